"""The HTML of the studio. Whatever is put into it is escaped; data come afterwards, as JSON."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import jinja2

from prunesymnet.data.files import EXAMPLES
from prunesymnet.studio import forms
from prunesymnet.studio.words import STATES
from prunesymnet.version import __version__

ABOUT_EXAMPLES = {
    "planets": "Nine planets: how long is a year?",
    "hubble": "Galaxies: how fast do they fly away?",
    "boyle": "A gas, pressed together in 1662",
    "balmer": "The colours of hydrogen",
}


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("prunesymnet.studio"), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {"date": _date}
    environment.globals |= {"version": __version__, "state_words": STATES}
    return environment


def render(template: str, **values: Any) -> str:
    return _environment().get_template(template).render(**values)


def _date(moment: float) -> str:
    from prunesymnet.report.numbers import date

    return date(moment)


def home(listed: list[dict[str, Any]], tables: Sequence[Any], at_once: int, most: int) -> str:
    examples = [(name, ABOUT_EXAMPLES.get(name, "")) for name in EXAMPLES]
    return render("home.html", searches=listed, tables=tables, examples=examples, at_once=at_once, most=most)


def searches(listed: list[dict[str, Any]], at_once: int) -> str:
    return render("searches.html", searches=listed, at_once=at_once)


def table(name: str, known_as: str) -> str:
    groups: dict[str, list[forms.Option]] = {}
    for option in forms.OPTIONS:
        groups.setdefault(option.group, []).append(option)
    first = groups.pop(forms.TIME)
    return render("table.html", name=name, id=known_as, first=first, groups=groups, operators=forms.SHOWN_OPERATORS)


def search(values: dict[str, Any]) -> str:
    return render("search.html", **values)


def problem(status: int, title: str, text: str) -> str:
    return render("problem.html", status=status, title=title, text=text)
