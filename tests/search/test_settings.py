"""What a search can be told about its banks."""

import pytest

from prunesymnet.search import STAGES, ExhaustiveSettings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("levels", -1), ("levels", 1.5), ("rows", 9), ("columns", 0), ("keep", 0), ("keep", "5"), ("fits", 0),
        ("fits", True), ("memory", 0), ("memory", -1.0), ("memory", float("nan")), ("memory", "2"), ("memory", None),
        ("device", "gpu"),
    ],
)  # fmt: skip
def test_bad_settings_are_refused_by_name(name, value):
    with pytest.raises(ValueError, match=f"^{name} must be .*got {value!r}"):
        ExhaustiveSettings(**{name: value})


def test_only_stages_that_there_are_can_be_left_out():
    ExhaustiveSettings(without=tuple(stage.name for stage in STAGES))
    with pytest.raises(ValueError, match=r"without must name stages \(power_law, .*\), got 'pears'"):
        ExhaustiveSettings(without=("pairs", "pears"))


@pytest.mark.parametrize("device", ["cpu", "cuda", "cuda:1"])
def test_devices(device):
    assert ExhaustiveSettings(device=device).device == device
