"""The command: where it listens, what it says, and what it refuses."""

import socket
import sys

import pytest
import uvicorn
from typer.testing import CliRunner

from prunesymnet.cli.app import app
from prunesymnet.studio import server
from prunesymnet.studio.safety import Door


@pytest.fixture
def served(monkeypatch):
    """Calls the command, with a server that ends at once; what it was told."""
    told = []

    def run(self, sockets):
        told.append((self.config.app, sockets[0].getsockname()))

    monkeypatch.setattr(uvicorn.Server, "run", run)

    def call(*arguments):
        result = CliRunner().invoke(app, ["studio", *map(str, arguments), "--no-browser"])
        return result, told

    return call


def test_it_listens_to_this_machine_alone(served, tmp_path):
    result, told = served(tmp_path, "--port", 0)
    assert result.exit_code == 0, result.output
    (guard, (host, port)) = told[0]
    assert (host, guard.door.token) == ("127.0.0.1", "")
    assert f"The studio is at http://localhost:{port}/" in result.output


def test_others_need_the_token_that_is_printed(served, tmp_path):
    result, told = served(tmp_path, "--port", 0, "--host", "0.0.0.0")  # noqa: S104 - nothing listens
    assert f"/?token={told[0][0].door.token}" in result.output


def test_one_server_for_a_folder(served, tmp_path):
    served(tmp_path, "--port", 0)
    with server._alone(server.Studio(tmp_path, 1)):
        result, _ = served(tmp_path, "--port", 0)
    assert result.exit_code == 3
    assert "has this folder open at http://localhost:" in result.output
    assert served(tmp_path, "--port", 0)[0].exit_code == 0


def test_a_port_that_is_taken(served, tmp_path, monkeypatch):
    with socket.socket() as other:
        other.bind(("localhost", 0))
        other.listen()
        port = other.getsockname()[1]
        result, _ = served(tmp_path, "--port", port)
        assert result.exit_code == 3
        assert "name another --port" in result.output
        monkeypatch.setattr(server, "PORT", port)
        result, told = served(tmp_path)  # any that is free
        assert result.exit_code == 0
        assert told[-1][1][1] != port


def test_without_its_packages_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "prunesymnet.studio.server")
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    monkeypatch.setitem(sys.modules, "starlette", None)
    result = CliRunner().invoke(app, ["studio", str(tmp_path), "--no-browser"])
    assert result.exit_code == 2
    assert "pip install 'prunesymnet[studio]'" in result.output


def test_addresses():
    assert server._address("localhost", 1, Door()) == "http://localhost:1/"
    assert server._address("::1", 1, Door()) == "http://localhost:1/"
    assert server._address("2001:db8::1", 1, Door((), "t")) == "http://[2001:db8::1]:1/?token=t"


def test_a_fault_is_told_without_its_details(client, studio, monkeypatch, caplog):
    def fault(*_):
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(studio.tables, "all", fault)
    bare = type(client)(client.app, base_url="http://localhost", raise_server_exceptions=False)
    answer = bare.get("/")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert "ZeroDivisionError" in answer.text
    assert "a secret" in caplog.text


@pytest.mark.parametrize("path", ["/no", "/tables/x", "/api/searches/x", "/parts/x", "/static/no.js"])
def test_what_is_not_there(client, path):
    answer = client.get(path)
    assert answer.status_code == 404
    assert "<h1>" in answer.text or answer.json()["error"]
