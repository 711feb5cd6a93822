"""What the tests of tests/fuzz share: how much they try, what they forbid, and how a hang is noticed.

`make fuzz` tries all of it, drawn anew each time; `make test` a twentieth, the same each time.
"""

import os
import signal
import traceback
from contextlib import contextmanager

from hypothesis import HealthCheck, Phase, settings

SHARE = float(os.environ.get("FUZZ", "0.05"))  # of all that is tried
HANG = 60  # seconds of this process's own time, however slow the machine: what is tried takes a hundredth of that
LONGEST = 2500  # characters of a message: what is wrong, not what was in the file
MOST_WARNINGS = 12  # of one call: each thing once


def tried(count):
    """How many examples a test draws, of so many in all."""
    new = SHARE >= 1
    return settings(
        max_examples=max(1, round(count * SHARE)),
        deadline=None,
        derandomize=not new,
        # An example that fails is made smaller when somebody waits for it, not in a test that is to be quick.
        phases=[Phase.explicit, Phase.generate, Phase.shrink] if new else [Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


@contextmanager
def no_hang():
    """An error for what takes longer than anything may."""

    def give_up(number, frame):
        raise AssertionError(f"takes more than {HANG} s")

    before = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, HANG)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def meant_for_people(problem):
    """That an error was raised on purpose, with a message that can be shown: it comes from a `raise` of ours or from
    scikit-learn's checks, not from the depths of a library that was given something odd."""
    where = traceback.extract_tb(problem.__traceback__)[-1]
    ours = "prunesymnet" in where.filename and (where.line or "").startswith("raise")
    assert ours or "sklearn" in where.filename, f"{where.filename}:{where.lineno} raised {problem!r}"
    assert 0 < len(str(problem)) <= LONGEST, f"a message of {len(str(problem))} characters"
