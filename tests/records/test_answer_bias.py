from __future__ import annotations

import pytest
from scipy.stats import chi2

from onlooker.records.bias import chi_square_critical


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 9, 29])
def test_chi_square_critical_against_scipy(freedom: int) -> None:
    assert chi_square_critical(freedom) == pytest.approx(chi2.ppf(0.99, freedom), rel=0.01)
