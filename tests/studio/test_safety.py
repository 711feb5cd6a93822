"""Only pages of the studio are answered, and only whoever knows the token where others can reach it."""

import pytest
from starlette.testclient import TestClient

from prunesymnet.studio.safety import COOKIE, Door, _welcome
from prunesymnet.studio.server import application

ORIGIN = "http://localhost"


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "", "a b", "x@y"])
def test_another_name_than_its_own_is_refused(client, host):
    answer = client.get("/", headers={"host": host})
    assert answer.status_code in (400, 421)
    assert "formula" not in answer.text


@pytest.mark.parametrize("host", ["localhost", "localhost:8042", "127.0.0.1:99", "[::1]:8042", "LOCALHOST"])
def test_its_own_names_are_not(client, host):
    assert client.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"}, {"origin": "null"}, {"origin": "http://localhost:1"},
        {"origin": "file://localhost"}, {"origin": ""},
    ],
)  # fmt: skip
def test_what_changes_something_must_come_from_our_pages(client, headers):
    assert client.post("/api/examples/planets", headers=headers).status_code == 403


def test_a_request_without_an_origin_changes_nothing(studio):
    bare = TestClient(application(studio), base_url=ORIGIN)
    assert bare.post("/api/examples/planets").status_code == 403
    assert bare.post("/api/examples/planets", headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert bare.post("/api/examples/planets", headers={"sec-fetch-site": "same-origin"}).status_code == 200


def test_reading_changes_nothing(client):
    for path in ("/api/examples/planets", "/api/searches", "/api/tables"):
        assert client.get(path).status_code == 405


def test_a_token_where_others_can_reach_it(studio):
    door = Door.of("0.0.0.0")  # noqa: S104 - nothing listens
    assert len(door.token) > 30
    assert Door.of("localhost").token == ""
    outside = TestClient(application(studio, door), base_url="http://lab.example:8042", follow_redirects=False)
    for path in ("/", "/static/studio.js", "/api/searches/0123456789abcdef"):
        assert outside.get(path).status_code == 401
    assert outside.get("/", params={"token": "wrong"}).status_code == 401
    assert outside.get("/", headers={"cookie": f"{COOKIE}=wrong; a="}).status_code == 401
    welcome = outside.get("/tables/1", params={"token": door.token, "a": "1"})
    assert welcome.status_code == 303
    assert welcome.headers["location"] == "/tables/1?a=1"  # without the token
    assert "HttpOnly" in welcome.headers["set-cookie"]
    assert "SameSite=Strict" in welcome.headers["set-cookie"]
    assert outside.get("/").status_code == 200  # with the cookie
    assert outside.post("/api/examples/planets", headers={"origin": "http://evil.example"}).status_code == 403


def test_a_token_leads_to_this_server_and_to_no_other():
    scope = {"path": "//evil.example/a", "query_string": b"token=x"}
    assert _welcome(scope, "x")["location"] == "/evil.example/a"


def test_answers_load_nothing_from_elsewhere(client):
    for path in ("/", "/static/studio.css", "/no/such/page"):
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert headers["x-content-type-options"] == "nosniff"
    for name in ("studio.css", "studio.js", "home.js", "table.js", "search.js", "plot.js"):
        text = client.get(f"/static/{name}").text
        assert "https://" not in text
        assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")  # a name, not an address


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py", "/static/%2e%2e/server.py", "/static/..%2fserver.py", "/tables/..%2f..",
        "/searches/....//", "/searches/%00", "/api/tables/../../etc/passwd", "/searches/0123456789abcdef/model.json",
        "/searches/0123456789ABCDEF", "/tables/" + "a" * 5000,
    ],
)  # fmt: skip
def test_no_path_leads_out_of_the_folder(client, path):
    answer = client.get(path)
    assert answer.status_code == 404
    assert "root:" not in answer.text


def test_links_are_not_followed(client, studio, tmp_path):
    secret = tmp_path / "0123456789abcdef"
    secret.mkdir()
    (secret / "table.csv").write_text("a,b\n1,2\n")
    link = studio.workspace.path / "tables" / "0123456789abcdef"
    link.symlink_to(secret)
    assert client.get("/tables/0123456789abcdef").status_code == 404
    assert client.get("/api/tables/0123456789abcdef").status_code == 404
    made = client.post("/api/examples/boyle").json()["id"]
    stored = studio.workspace.path / "tables" / made / "table.csv"
    studio.tables.cache.clear()
    stored.unlink()
    stored.symlink_to(secret / "table.csv")
    assert client.get(f"/api/tables/{made}").status_code == 404
