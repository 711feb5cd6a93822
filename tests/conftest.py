"""Property tests draw the same examples in every run; `--hypothesis-profile=explore` looks for new ones."""

import os

import numpy  # noqa: F401 - its library of matrix products must be there to be limited
import pytest
from hypothesis import HealthCheck, settings
from threadpoolctl import threadpool_limits

_slow_is_fine = [HealthCheck.too_slow]
settings.register_profile(
    "repeatable", deadline=None, derandomize=True, max_examples=100, suppress_health_check=_slow_is_fine
)
settings.register_profile("explore", deadline=None, max_examples=3000, suppress_health_check=_slow_is_fine)
settings.load_profile("repeatable")


@pytest.fixture(scope="session", autouse=True)
def _one_thread_for_each_matrix_product():
    """The tests run on all cores at once: threads of matrix products on top would only get in their way. That their
    number changes nothing is for `make test-cpus` to see (tests/processors.py)."""
    with threadpool_limits(int(os.environ.get("TEST_THREADS", "1")), user_api="blas"):
        yield
