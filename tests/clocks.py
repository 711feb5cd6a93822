"""A clock that a test holds, so that no limit of time depends on how fast the machine is."""


class Clock:
    """Shows the seconds since it was made: `step` more at each look, and what `wait` adds."""

    def __init__(self, step: float = 0.0) -> None:
        self.step, self.now = step, 0.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += seconds
