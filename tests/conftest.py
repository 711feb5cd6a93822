"""Property tests draw the same examples in every run; `--hypothesis-profile=explore` looks for new ones."""

from hypothesis import HealthCheck, settings

_slow_is_fine = [HealthCheck.too_slow]
settings.register_profile(
    "repeatable", deadline=None, derandomize=True, max_examples=100, suppress_health_check=_slow_is_fine
)
settings.register_profile("explore", deadline=None, max_examples=3000, suppress_health_check=_slow_is_fine)
settings.load_profile("repeatable")
