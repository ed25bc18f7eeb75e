"""Entries of a matrix that somebody else wrote."""

import numpy as np
import pytest
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.network.matrix_checks import Rules, check_entries


@pytest.mark.parametrize("columns", [[-1, 2], [0, 3], [-3, -1]])
def test_a_position_outside_is_refused_whatever_the_others_are(columns):
    matrix = sp.csr_array((np.ones(2), np.array([0, 2]), np.array([0, 1, 2])), shape=(2, 3))
    check_entries(matrix, "links", Rules())
    matrix.indices = np.array(columns)
    with pytest.raises(InputError, match="leave the 3 columns"):
        check_entries(matrix, "links", Rules())
