"""Which groups are tried."""

import numpy as np

from prunesymnet.structure.exponents import FIRST, first_vectors, neighbours, primitive


def test_no_two_vectors_are_the_same_group():
    every = primitive(3, 3)
    assert len(np.unique(every, axis=0)) == len(every)
    assert (np.gcd.reduce(every, axis=1) == 1).all()
    lines = {tuple(np.round(vector / np.linalg.norm(vector), 9)) for vector in every}
    assert len(lines) == len(every)
    assert not lines & {tuple(-np.array(line)) for line in lines}


def test_of_many_columns_no_more_vectors_are_tried_first():
    for columns in range(1, 13):
        assert 0 < len(first_vectors(columns)) <= FIRST


def test_neighbours_lead_to_every_exponent():
    known = {tuple(vector) for vector in first_vectors(6)}
    assert (1, -2, 0, 0, 0, 0) not in known
    near = {tuple(vector) for vector in neighbours(np.array([[1, -1, 0, 0, 0, 0]]), 6)}
    assert (1, -2, 0, 0, 0, 0) in near
    assert all(abs(vector[-1]) == 1 for vector in neighbours(np.array([[0, 0, 1]]), 2))  # of what is no column
