"""A hook of mkdocs: `{{ include CHANGELOG.md }}` is a file of the repository, and `{{ include README.md: Measured }}`
the section of it with that heading, so that nothing has to be said twice. The benchmarks' figures join the pictures."""

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
FIGURES, TABLES = "benchmarks/results/figures", "benchmarks/results/tables"
LINE = re.compile(r"^\{\{ include (?P<file>[\w./-]+)(: (?P<heading>.+?))? \}\}$", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for path in sorted((ROOT / FIGURES).glob("*.svg")):
        files.append(File.generated(config, f"figures/{path.name}", abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    page = LINE.sub(lambda line: included(line["file"], line["heading"]), markdown)
    # What the README says of the repository, as the site has it.
    page = re.sub(rf"\((\.\./)?{FIGURES}/", "(figures/", page).replace("(docs/", "(")
    return re.sub(r"^!\[.*\]\(figures/(.*)\)$", drawn, page, flags=re.MULTILINE)


def drawn(line: re.Match[str]) -> str:
    return line[0] if (ROOT / FIGURES / line[1]).exists() else "*Not drawn yet.*"


def included(file: str, heading: str | None) -> str:
    """The text under a file's first heading, or under one of its sections; a heading that is not there is an error."""
    if file.startswith(TABLES) and not (ROOT / file).exists():
        return "*Not measured yet.*"
    text = (ROOT / file).read_text(encoding="utf-8")
    if heading is None:
        return text.partition("\n")[2].strip()
    section = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if section is None:
        raise ValueError(f"{file} has no section {heading!r}, which a page of the documentation includes")
    return re.sub("<!-- .*? -->\n?", "", section[1]).strip()
