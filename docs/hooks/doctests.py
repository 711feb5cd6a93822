"""An extension of griffe: examples in docstrings (`>>>`) are code, wherever they stand; and so are their results."""

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> (?:.+\n?)+", re.MULTILINE)


class Doctests(griffe.Extension):
    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub(_fenced, obj.docstring.value)


def _fenced(example: re.Match[str]) -> str:
    text = example[0].rstrip("\n").replace("<BLANKLINE>", "")
    return f"```pycon\n{re.sub('  # doctest: .*', '', text)}\n```\n"
