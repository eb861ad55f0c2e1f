"""Counters of trust regions, worked by hand for one parameter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from optuna_zaps.search.trust_region import TrustRegion
from optuna_zaps.search.trust_region import TrustRegionSettings


SETTINGS = TrustRegionSettings(
    first_side=0.4,
    return_side=0.2,
    least_side=0.15,
    most_side=1.0,
    n_hops=1,
    n_successes=2,
    n_failures=2,
    least_gain=0.1,
    exclusion=0.2,
)
START = ((0.1, -1.0), (0.5, 0.0))
"""Point and label of each trial of the start."""


def region_after(*trials: tuple[float, float]) -> TrustRegion:
    points = np.array([[point] for point, _ in (*START, *trials)])
    labels = np.array([label for _, label in (*START, *trials)])
    return TrustRegion.first(labels[: len(START)], SETTINGS).after(points, labels, SETTINGS)


def test_first_region_is_around_the_best() -> None:
    assert region_after() == TrustRegion(n_labels=2, start=2, centre=1, side=0.4)


def test_successes_in_a_row_double_the_side_and_move_the_centre() -> None:
    # The gap to the one other label is 1, and 0.2 are a success.
    assert region_after((0.55, 0.2)) == TrustRegion(3, 2, 2, 0.4, n_successes=1)
    # The gap is that to the median of 0 and -1: 0.2 + 0.5, of which a tenth is 0.07.
    assert region_after((0.55, 0.2), (0.6, 0.3)) == TrustRegion(4, 2, 3, 0.8)


def test_the_side_has_a_largest_value() -> None:
    four = ((0.55, 0.5), (0.6, 1.0), (0.65, 2.0), (0.7, 4.0))
    assert region_after(*four).side == 1.0


def test_failures_in_a_row_halve_the_side() -> None:
    assert region_after((0.55, -0.1)) == TrustRegion(3, 2, 1, 0.4, n_failures=1)
    assert region_after((0.55, -0.1), (0.45, -0.1)) == TrustRegion(4, 2, 1, 0.2)


def test_a_success_ends_a_row_of_failures() -> None:
    trials = ((0.55, -0.1), (0.56, 0.5), (0.57, 0.4))
    assert region_after(*trials) == TrustRegion(5, 2, 3, 0.4, n_failures=1)


def test_a_small_gain_is_a_failure_but_moves_the_centre() -> None:
    # A tenth of the gap of 1.
    assert region_after((0.55, 0.1)) == TrustRegion(3, 2, 2, 0.4, n_failures=1)


def test_what_is_outside_the_box_counts_only_if_it_is_better() -> None:
    assert region_after((0.8, -0.1)) == TrustRegion(3, 2, 1, 0.4)
    assert region_after((0.8, 0.5)) == TrustRegion(3, 2, 2, 0.4, n_successes=1)


CONVERGED = ((0.55, -0.1), (0.45, -0.1), (0.52, -0.1), (0.48, -0.1))
"""Four failures: half the side is 0.2, and half of that less than the least."""

HOP = (0.95, -0.5)
RETURNED = ((0.51, -0.1), (0.49, -0.1))
"""Two failures in the smaller box of a return."""


def test_the_coordinates_of_a_converged_region_hop() -> None:
    hopping = TrustRegion(6, 6, 1, 0.2, converged=(1,), is_return=True, n_hops=1)
    assert region_after(*CONVERGED) == hopping


def test_a_return_to_the_best_follows_the_hops() -> None:
    returned = TrustRegion(7, 7, 1, 0.2, converged=(1,), is_return=True)
    assert region_after(*CONVERGED, HOP) == returned
    # Labels near the best, where a region has converged, count again.
    assert region_after(*CONVERGED, HOP, (0.51, -0.1)) == replace(
        returned, n_labels=8, n_failures=1
    )


def test_a_hop_to_a_better_label_begins_a_region() -> None:
    assert region_after(*CONVERGED, (0.95, 0.3)) == TrustRegion(7, 7, 6, 0.4, converged=(1,))


def test_after_a_hop_to_a_better_label_near_by_all_coordinates_hop_again() -> None:
    # Not far enough for a new region.
    again = TrustRegion(7, 7, 6, 0.2, converged=(1,), is_return=True, n_hops=1)
    assert region_after(*CONVERGED, (0.6, 0.3)) == again
    # No better one follows: a region returns to it.
    assert region_after(*CONVERGED, (0.6, 0.3), (0.9, 0.1)) == replace(
        again, n_labels=8, start=8, n_hops=0
    )


def test_another_region_begins_elsewhere_after_the_return() -> None:
    # Of the points farther than 0.2 from 0.5 the hop is best.
    elsewhere = TrustRegion(9, 9, 6, 0.4, converged=(1,))
    assert region_after(*CONVERGED, HOP, *RETURNED) == elsewhere
    assert region_after(*CONVERGED, HOP, *RETURNED, (0.75, -0.6)).n_failures == 1


def test_labels_near_a_converged_region_do_not_count_elsewhere() -> None:
    region = region_after(*CONVERGED, (0.8, -0.5), *RETURNED)
    assert (region.centre, region.side) == (6, 0.4)
    # In the box of either.
    assert region_after(*CONVERGED, (0.8, -0.5), *RETURNED, (0.65, -0.2)) == replace(
        region, n_labels=10
    )


def test_all_is_searched_again_once_nothing_is_left() -> None:
    second = ((0.9, -0.6), (0.99, -0.6), (0.91, -0.6), (0.92, -0.6))
    third = ((0.15, -2.0), (0.2, -2.0), (0.05, -2.0), (0.12, -2.0))
    trials = [*CONVERGED, HOP, *RETURNED, *second, (0.3, -0.9), *RETURNED]
    assert region_after(*trials) == TrustRegion(16, 16, 0, 0.4, converged=(1, 6))
    trials += [*third, (0.3, -0.9), *RETURNED]
    assert region_after(*trials) == TrustRegion(23, 23, 1, 0.4)


def test_more_failures_are_needed_in_more_dimensions() -> None:
    points: npt.NDArray[np.float64] = np.full((6, 3), 0.5)
    points[:, 0] += 0.01 * np.arange(6)
    labels = np.array([-1.0, 0.0, -0.5, -0.5, -0.5, -0.5])
    first = TrustRegion.first(labels[:2], SETTINGS)
    assert first.after(points[:4], labels[:4], SETTINGS).side == 0.4
    assert first.after(points[:5], labels[:5], SETTINGS).side == 0.2


def test_the_region_does_not_depend_on_how_often_it_was_asked_for() -> None:
    rng = np.random.default_rng(0)
    points, labels = rng.random((200, 2)), rng.normal(size=200)
    first = stepwise = TrustRegion.first(labels[:10], SETTINGS)
    for n in range(11, 201):
        stepwise = stepwise.after(points[:n], labels[:n], SETTINGS)
    assert stepwise == first.after(points, labels, SETTINGS)
    assert stepwise.converged
