"""Why a law was missed: the description of what was returned beside that of the law, on the same rows."""

import json
import sys

from benchmarks import why
from benchmarks.trial import Trial, find, tables
from prunesymnet.coefficients import fit
from prunesymnet.expression import parse, to_text


def missed(form, noise, **changes):
    """The row of a trial that has returned this form, fitted to the rows it was given."""
    trial = Trial("ours", "textbook", "michaelis-menten", noise=noise, points=60, noise_of="value", **changes)
    data, _ = tables(trial, find(trial))
    formula = to_text(fit(parse(form, variables=data.names), data).expression)
    return trial.__dict__ | {"formula": formula, "form": False, "recovered": False}


def test_a_law_that_the_rows_show_is_shorter_than_what_is_wrong():
    found = why.diagnosed(missed("1.0*S + 1.0", 0.01))
    assert found["why"] == "shorter"
    assert found["law_bits"] < found["returned_bits"]


def test_a_law_is_longer_where_noise_hides_it():
    found = why.diagnosed(missed("1.0*log(S) + 1.0", 1.0))
    assert found["why"] == "longer"
    assert found["law_bits"] > found["returned_bits"]


def test_what_is_right_or_has_no_formula_stays_as_it_is():
    row = missed("1.0*S + 1.0", 0.01)
    assert why.diagnosed(row | {"form": True}) == row | {"form": True}
    assert why.diagnosed(row | {"formula": None}) == row | {"formula": None}


def test_the_command_writes_it_into_the_rows(tmp_path, monkeypatch, capsys):
    file = tmp_path / "runs.jsonl"
    rows = [missed("1.0*S + 1.0", 0.01), missed("1.0*S + 1.0", 0.01) | {"set": "paper", "problem": "koza-01"}]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setattr(sys, "argv", ["why", "--file", str(file)])
    why.main()
    first, second = map(json.loads, file.read_text().splitlines())
    assert first["why"] == "shorter"
    assert "why" not in second
    assert "the law takes" in capsys.readouterr().out
