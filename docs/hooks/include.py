"""A hook of mkdocs: `{{ include CHANGELOG.md }}` is a file of the repository, and `{{ include README.md: Measured }}`
the section of it with that heading, so that nothing has to be said twice."""

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LINE = re.compile(r"^\{\{ include (?P<file>[\w./-]+)(: (?P<heading>.+?))? \}\}$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    return LINE.sub(lambda line: included(line["file"], line["heading"]), markdown)


def included(file: str, heading: str | None) -> str:
    """The text under a file's first heading, or under one of its sections; a heading that is not there is an error."""
    text = (ROOT / file).read_text(encoding="utf-8")
    if heading is None:
        return text.partition("\n")[2].strip()
    section = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if section is None:
        raise ValueError(f"{file} has no section {heading!r}, which a page of the documentation includes")
    return re.sub("<!-- .*? -->\n?", "", section[1]).strip()
