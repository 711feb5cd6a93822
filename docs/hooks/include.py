"""A hook of mkdocs: `{{ include CHANGELOG.md }}` is a file of the repository without its heading, so that nothing has
to be said twice. The benchmarks' figures join the pictures."""

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
FIGURES, TABLES = "benchmarks/results/figures", "benchmarks/results/tables"
LINE = re.compile(r"^\{\{ include (?P<file>[\w./-]+) \}\}$", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for path in sorted((ROOT / FIGURES).glob("*.svg")):
        files.append(File.generated(config, f"figures/{path.name}", abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    page = LINE.sub(lambda line: included(line["file"]), markdown)
    page = page.replace(f"(../{FIGURES}/", "(figures/")
    return re.sub(r"^!\[.*\]\(figures/(.*)\)$", drawn, page, flags=re.MULTILINE)


def drawn(line: re.Match[str]) -> str:
    return line[0] if (ROOT / FIGURES / line[1]).exists() else "*Not drawn yet.*"


def included(file: str) -> str:
    """The text under a file's first heading."""
    if file.startswith(TABLES) and not (ROOT / file).exists():
        return "*Not measured yet.*"
    return (ROOT / file).read_text(encoding="utf-8").partition("\n")[2].strip()
