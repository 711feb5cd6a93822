"""How many threads the products of matrices have, when searches overlap."""

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from prunesymnet.search.threads import one_matrix_thread


def threads():
    np.ones((2, 2)) @ np.ones((2, 2))
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_searches_that_overlap_leave_the_threads_as_they_were():
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        one, two = one_matrix_thread(), one_matrix_thread()
        one.__enter__()
        assert threads() == {1}
        two.__enter__()
        one.__exit__(None, None, None)
        assert threads() == {1}  # the second is still running
        two.__exit__(None, None, None)
        assert threads() == before
