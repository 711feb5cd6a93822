"""The folder of a studio, and the names of what is in it.

    studio/
      tables/0f3c.../      a table as it came, and table.json: what it is called, and how it is read
      searches/91ab.../    search.json: what was asked for; run/: the folder of the run (`prunesymnet.runs`)

Folders are called by numbers that are drawn at random. No name that a person or a file brings along becomes part of a
path, and links are not followed.
"""

import os
import re
import secrets
import shutil
from pathlib import Path
from typing import Any

from prunesymnet.data.messages import MOST_OF_A_VALUE, printable
from prunesymnet.errors import FileFormatError
from prunesymnet.runs.files import seal, unseal, write_whole
from prunesymnet.version import __version__

ID = re.compile(r"[0-9a-f]{16}")
MADE_BY = f"prunesymnet {__version__}"


class NotThere(Exception):
    """What was asked for is not in the studio: it was removed, or never was."""


class Workspace:
    """The folder of a studio."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).absolute()
        for kind in ("tables", "searches"):
            (self.path / kind).mkdir(parents=True, exist_ok=True)

    def new(self, kind: str) -> tuple[str, Path]:
        """A new folder among the tables or searches, by its id."""
        made = secrets.token_hex(8)
        folder = self.path / kind / made
        folder.mkdir()
        return made, folder

    def folder(self, kind: str, known_as: str) -> Path:
        """The folder of a table or a search; an id that is none, a link, or what is not there raises NotThere."""
        if not ID.fullmatch(known_as):
            raise NotThere(f"there is no {kind[:-1]} of this name")
        folder = self.path / kind / known_as
        if folder.is_symlink() or not folder.is_dir():
            raise NotThere(f"this {'table' if kind == 'tables' else 'search'} is not in the studio any more")
        return folder

    def ids(self, kind: str) -> list[str]:
        with os.scandir(self.path / kind) as found:
            return sorted(
                entry.name for entry in found if ID.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            )

    def remove(self, kind: str, known_as: str) -> None:
        """Remove a table or a search: at once for whoever looks, and then its files."""
        gone = self.path / kind / f".{known_as}.removed"
        self.folder(kind, known_as).rename(gone)
        shutil.rmtree(gone, ignore_errors=True)


def write_record(path: Path, kind: str, content: dict[str, Any]) -> None:
    write_whole(path, seal(f"prunesymnet studio {kind}", content, MADE_BY))


def read_record(path: Path, kind: str) -> dict[str, Any]:
    """A record of ours; what is not there, or was changed, raises NotThere."""
    try:
        return unseal(path, f"prunesymnet studio {kind}")
    except FileFormatError as problem:
        raise NotThere(printable(str(problem))) from None


def clean_name(name: str, otherwise: str) -> str:
    """What a person calls something, on one line, without what a terminal or a page would obey.

    >>> clean_name(" ../a\\x1b[2J\\nb ", "table"), clean_name("  ", "table")
    ('../a\\\\x1b[2J b', 'table')
    """
    return printable(" ".join(name.split()), MOST_OF_A_VALUE) or otherwise
