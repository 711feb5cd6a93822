"""Texts to the parser and files to the reader of models, that grow by what they reach in the code (atheris).

python tests/fuzz/with_atheris.py parser -runs=100000
python tests/fuzz/with_atheris.py model -runs=10000
"""

import hashlib
import json
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 400  # bytes of an input: what breaks a parser is short
HANG = 60  # seconds for one input, where milliseconds are usual


def parser():
    """A text is a formula that is read back as it was, or a ParseError."""
    from prunesymnet.errors import ParseError
    from prunesymnet.expression import parse, to_text

    def attempt(content):
        try:
            found = parse(content.decode("utf-8", "surrogateescape"))
        except ParseError:
            return
        if parse(to_text(found)) != found:
            raise AssertionError(f"{to_text(found)} is another formula")

    return attempt, [b"x**2/2 - sin(3*x)", b"a*exp(-b*x1) + 1.5e-3", b"(x + 1)/(y - 2)**0.5"]


def model():
    """A file is a model that can be used, or a FileFormatError: the input is put into the places of a model one after
    the other, under a checksum that is right."""
    sys.path.insert(0, str(ROOT))
    from damage import use
    from models import model as whole_model
    from models import saved
    from prunesymnet.errors import FileFormatError
    from prunesymnet.runs import load_model

    folder = Path(tempfile.mkdtemp())
    whole = json.loads(saved(folder, whole_model()).read_text())
    text = json.dumps(whole["content"]["fronts"][1], sort_keys=True)

    def attempt(content):
        place, _, value = content.decode("utf-8", "replace").partition("|")
        at = sum(map(ord, place)) % len(text)
        try:
            front = json.loads(text[:at] + value + text[at + len(place) :])
        except (ValueError, RecursionError):
            return
        changed = dict(whole, content=dict(whole["content"], fronts=[whole["content"]["fronts"][0], front]))
        inside = json.dumps(changed["content"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        changed["sha256"] = hashlib.sha256(inside.encode("utf-8", "surrogatepass")).hexdigest()
        path = folder / "changed.json"
        path.write_text(json.dumps(changed))
        try:
            use(load_model(path))
        except FileFormatError:
            return

    return attempt, [b"abc|1", b'xy|"x"', b"|1e5", b"q|null", b"1234|[]"]


def main():
    import atheris

    with atheris.instrument_imports(include=["prunesymnet"]):
        attempt, examples = {"parser": parser, "model": model}[sys.argv[1]]()
    corpus = Path(tempfile.mkdtemp())
    for i, example in enumerate(examples):
        (corpus / str(i)).write_bytes(example)
    options = [f"-max_len={LONGEST}", f"-timeout={HANG}", "-print_final_stats=0", "-verbosity=0", *sys.argv[2:]]
    atheris.Setup([sys.argv[0], *options, str(corpus)], attempt)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
