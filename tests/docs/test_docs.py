"""The pages of the documentation: their commands do what they show, their links lead somewhere, nothing is left out.

Their Python examples are doctests (`--doctest-glob`), and `make check` builds the site.
"""

import inspect
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from markdown.extensions.toc import slugify
from typer.main import get_command
from typer.testing import CliRunner

import prunesymnet
from prunesymnet.cli.app import app
from prunesymnet.search import PRESETS
from prunesymnet.selection import CRITERIA

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A command of ours in a pipe: what it reads, what it is asked for, and what is done with what it prints.
OURS = re.compile(r"(?:(?P<before>.*) \| )?prunesymnet (?P<arguments>[^|;<>$]*?)(?P<after> \| (head|tail) -1| > \S+)?")
CODE = '; echo "exit code $?"'
LINK = re.compile(r"\]\(([^()\s]+)\)")


def name(path):
    return str(path.relative_to(ROOT))


def sessions(path):
    """What a page's console blocks hold: each command with the output that it is to have."""
    found = []
    for kind, block in FENCE.findall(path.read_text()):
        if kind == "console":
            parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
            assert not parts[0], f"{path}: a console block begins with a command"
            found += [part.partition("\n")[::2] for part in parts[1:]]
    return found


def pattern(expected):
    """A line of dots is any number of lines, dots in a line are any text."""
    parts = []
    for line in expected.splitlines():
        text = r"[^\n]*".join(map(re.escape, line.rstrip().split("...")))
        parts.append(r"(?:[^\n]*\n)*?" if line == "..." else rf"{text} *\n")
    return "".join(parts)


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """Runs a command in a folder with the example tables, where `prunesymnet` and `python` are those under test."""
    folder, scripts = tmp_path / "work", tmp_path / "bin"
    folder.mkdir()
    scripts.mkdir()
    for table in (ROOT / "examples").glob("*.csv"):
        shutil.copy(table, folder)
    for command, arguments in {"prunesymnet": "-m prunesymnet ", "python": ""}.items():
        (scripts / command).write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments}"$@"\n')
        (scripts / command).chmod(0o755)
    environment = os.environ | {"PATH": f"{scripts}:{os.environ['PATH']}", "OPENBLAS_NUM_THREADS": "1"}

    def run(command):
        # Ours is run here, with what is piped into it: another process would only take its time to import what is here
        # already.
        ours = OURS.fullmatch(command.removesuffix(CODE))
        if ours is None:
            done = subprocess.run(
                ["/bin/bash", "-c", command], cwd=folder, env=environment, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
            return done.returncode, done.stdout
        given = run(ours["before"])[1] if ours["before"] else None
        with monkeypatch.context() as patch:
            patch.chdir(folder)
            done = CliRunner().invoke(app, shlex.split(ours["arguments"]), input=given)
        return after(ours["after"] or "", done, command.endswith(CODE))

    def after(what, done, code):
        shown = done.output.splitlines(keepends=True)
        if what.startswith(" > "):
            (folder / what.removeprefix(" > ")).write_text(done.stdout)
            shown = [done.stderr]
        elif what:
            shown = shown[:1] if "head" in what else shown[-1:]
        return done.exit_code, "".join(shown) + (f"exit code {done.exit_code}\n" if code else "")

    return run


@pytest.mark.parametrize("path", [p for p in [*PAGES, ROOT / "README.md"] if sessions(p)], ids=name)
def test_commands_print_what_the_page_shows(path, shell):
    for command, expected in sessions(path):
        code, output = shell(command)
        assert re.fullmatch(pattern(expected), output), f"$ {command}\n{output}"
        failed = re.search(r"^error:", expected, re.MULTILINE) is not None
        assert (code == 0) != failed or "echo" in command, f"$ {command}"


def test_a_pattern_matches_what_it_should_and_nothing_else():
    assert re.fullmatch(pattern("a ... b\n...\nend\n"), "a 1.5 b\nx\ny\nend\n")
    assert re.fullmatch(pattern("a\n...\nend\n"), "a\nend\n")
    assert not re.fullmatch(pattern("a ... b\n"), "a 1.5 b\nmore\n")
    assert not re.fullmatch(pattern("x**2\n"), "xx2\n")


def anchors(path):
    """The headings of a page, as links call them."""
    text = FENCE.sub("", path.read_text())
    return {slugify(re.sub(r"[`*]", "", heading), "-") for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}


@pytest.mark.parametrize("path", [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=name)
def test_links_lead_somewhere(path):
    for link in LINK.findall(FENCE.sub("", path.read_text())):
        if link.startswith("https://"):
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), f"{link} is not there"
        if anchor:
            assert anchor in anchors(target), f"{link}: the page has no such heading"


def test_every_page_is_in_the_navigation():
    nav = (ROOT / "mkdocs.yml").read_text().partition("theme:")[0]
    for page in PAGES:
        if page.parent.name != "pictures":
            assert str(page.relative_to(DOCS)) in nav


def test_every_picture_is_shown():
    text = "".join(page.read_text() for page in PAGES)
    for picture in (DOCS / "pictures").glob("*.png"):
        assert f"pictures/{picture.name}" in text


def test_every_public_name_is_in_the_reference():
    reference = "".join(page.read_text() for page in (DOCS / "api").glob("*.md"))
    for public in prunesymnet.__all__:
        assert re.search(rf"^::: prunesymnet\.([\w.]+\.)?{public}$", reference, re.MULTILINE), public


def test_every_parameter_preset_and_criterion_is_explained():
    text = (DOCS / "settings.md").read_text()
    for parameter in inspect.signature(prunesymnet.PruneSymRegressor).parameters:
        assert f"| `{parameter}` |" in text
    for value in [*PRESETS, *CRITERIA]:
        assert f'`"{value}"`' in text


def test_every_command_and_option_is_explained():
    page = (DOCS / "command-line.md").read_text()
    for called, command in get_command(app).commands.items():
        assert f"$ prunesymnet {called} " in page or f"| prunesymnet {called} " in page
        section = re.search(rf"\n## {called}\n(.*?)\n## ", page, re.DOTALL)[1]
        section += (DOCS / "studio.md").read_text() if called == "studio" else ""
        for option in (one for one in command.params if one.opts[0].startswith("--")):
            assert any(word in section for word in option.opts + option.secondary_opts), f"{called} {option.opts[0]}"


def test_every_method_of_the_estimator_is_in_the_reference():
    page = (DOCS / "api" / "estimator.md").read_text()
    shown = re.search(r"members: \[(.*)\]", page)[1].split(", ")
    ours = {
        name
        for kind in prunesymnet.PruneSymRegressor.__mro__
        for name in vars(kind)
        if kind.__module__.startswith("prunesymnet") and not name.startswith("_") and not name.startswith("set_")
    }
    assert set(shown) == {name for name in ours if callable(getattr(prunesymnet.PruneSymRegressor, name, None))}


def test_the_site_fetches_nothing():
    settings = (ROOT / "mkdocs.yml").read_text()
    assert "font: false" in settings
    assert "http" not in settings
