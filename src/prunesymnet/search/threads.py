"""One thread for the products of matrices while any search of this process runs.

Our threads work on whole tasks. The matrix products inside are held to one thread each: so they do not get in each
other's way, and give the same numbers with any number of workers. The number of threads belongs to the library, and so
to the whole process: the first of several searches that overlap sets it, and the last one sets it back.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import threadpool_limits


class _Held:
    """How many searches are running, and what was set before the first."""

    def __init__(self) -> None:
        self.lock, self.count = threading.Lock(), 0
        self.before: Any = None

    def enter(self) -> None:
        with self.lock:
            if self.count == 0:
                self.before = threadpool_limits(1, user_api="blas")
            self.count += 1

    def leave(self) -> None:
        with self.lock:
            self.count -= 1
            if self.count == 0:
                self.before.restore_original_limits()
                self.before = None


_held = _Held()


@contextmanager
def one_matrix_thread() -> Iterator[None]:
    _held.enter()
    try:
        yield
    finally:
        _held.leave()
