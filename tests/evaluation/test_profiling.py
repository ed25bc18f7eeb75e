"""What exported vectors alone are worth, and whether they are one cloud."""

import numpy as np
import pytest

from coembed.errors import InputError
from coembed.evaluation.cell_scoring import finite
from coembed.evaluation.profiling import mixing


@pytest.mark.parametrize("count", [5, 300])
def test_one_cloud_mixes_at_one_however_small_it_is(count):
    vectors = np.random.default_rng(0).normal(size=(2 * count, 8))
    assert mixing(vectors[:count], vectors[count:]) == pytest.approx(1.0, abs=1e-9 if count == 5 else 0.1)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_single_value_that_is_no_number_is_told(bad):
    assert finite(np.ones(3)).sum() == 3
    with pytest.raises(InputError, match="diverged"):
        finite(np.array([1.0, bad, 2.0]))
