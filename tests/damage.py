"""Ways to damage the files of models and runs, and everything that is done with what can still be read."""

import copy
import os
import shutil

import numpy as np
from hypothesis import strategies as st


def use(found):
    """Everything that is done with a model."""
    columns = {name: np.linspace(-2, 3, 4) for name in found.names}
    str(found)
    for front in found.fronts:
        front.table()
        front._repr_html_()
        for law in front:
            assert law.predict(columns).shape == (4,)
            low, high = law.interval(columns)
            assert low.shape == high.shape == (4,)
            assert len(law.constants) == len(law.covariance)


def places(value, here=()):
    """Every place in a JSON value."""
    yield here
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*here, key))


junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 70),
    st.sampled_from([10**20, -(10**400), 2**53, 1e308, -0.0, 5e-324]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        ["", "nan", "inf", "-inf", "x", "z", "y", "a", "b", "sin", "1.0", "1.0*x", "a*x + b", "x/0", "mdl"]
    ),
    st.text(max_size=5),
    st.lists(st.none() | st.integers(0, 2) | st.lists(st.floats(-1, 1), max_size=3), max_size=4),
    st.dictionaries(st.sampled_from(["a", "b", "c", "x", "function", "formula"]), st.integers(0, 2), max_size=3),
)


@st.composite
def mutations(draw):
    """One to three changes to a model's content: what to do, where (as a share of all places), and with what."""
    kind = st.sampled_from(["put", "put", "put", "drop", "double", "move"])
    return draw(
        st.lists(st.tuples(kind, st.floats(0, 1, exclude_max=True), st.floats(0, 1), junk), min_size=1, max_size=3)
    )


def mutated(content, changes):
    changed = {"content": copy.deepcopy(content)}
    for kind, where, other, value in changes:
        found = list(places(changed["content"]))
        place = ("content", *found[int(where * len(found))])
        inside = changed
        for key in place[:-1]:
            inside = inside[key]
        if kind == "put":
            inside[place[-1]] = value
        elif kind == "drop" and len(place) > 1:
            del inside[place[-1]]
        elif kind == "double" and isinstance(inside, list):
            inside.append(copy.deepcopy(inside[place[-1]]))
        else:
            source = changed
            for key in ("content", *found[min(int(other * len(found)), len(found) - 1)]):
                source = source[key]
            inside[place[-1]] = copy.deepcopy(source)
    return changed["content"]


@st.composite
def byte_damage(draw):
    """One to four changes to a file's bytes: what to do, where (as a share of its length), how many, and with what."""
    kind = st.sampled_from(["flip", "flip", "cut", "drop", "insert", "double", "swap", "zero"])
    share = st.floats(0, 1, exclude_max=True)
    return draw(st.lists(st.tuples(kind, share, share, st.binary(min_size=1, max_size=8)), min_size=1, max_size=4))


def damaged(content, changes):
    for kind, where, other, text in changes:
        at, length = int(where * len(content)), 1 + int(other * 200)
        rest = content[at + length :]
        if kind == "flip" and content:
            content = content[:at] + bytes([content[at] ^ 1 << int(other * 8)]) + content[at + 1 :]
        elif kind == "cut":
            content = content[:at]
        elif kind == "drop":
            content = content[:at] + rest
        elif kind == "insert":
            content = content[:at] + text + content[at:]
        elif kind == "double":
            content = content[: at + length] + content[at:]
        elif kind == "swap":
            content = content[at:] + content[:at]
        elif kind == "zero":
            content = content[:at] + bytes(min(length, len(content) - at)) + rest
    return content


# What may stand where a file should be; `other` is another path.
PUT = {
    "a link": lambda path, other: path.symlink_to(other),
    "a link to a device": lambda path, other: path.symlink_to("/dev/zero"),
    "a pipe": lambda path, other: os.mkfifo(path),
    "a folder": lambda path, other: path.mkdir(),
    "nothing": lambda path, other: None,
    "another file": lambda path, other: shutil.copy(other, path),
    "an empty file": lambda path, other: path.touch(),
}


def remove(path):
    """Whatever it is."""
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
