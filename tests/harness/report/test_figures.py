"""Numbers behind the figures."""

from __future__ import annotations

import numpy as np

from harness.report.traces import band


INF = np.inf


def test_quartiles_of_studies_without_a_finite_value_are_infinite() -> None:
    """Five studies: quartiles are the second and the fourth value."""
    curves = np.array(
        [
            [1.0, 1.0, INF, -INF],
            [2.0, 2.0, INF, -INF],
            [3.0, INF, INF, 1.0],
            [4.0, INF, INF, 2.0],
            [5.0, INF, INF, 3.0],
        ]
    )
    numbers = band(curves, geometric=False)  # a warning would be an error
    assert numbers["lower_quartile"].tolist() == [2.0, 2.0, INF, -INF]
    assert numbers["upper_quartile"].tolist() == [4.0, INF, INF, 2.0]
