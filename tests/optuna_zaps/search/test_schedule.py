from __future__ import annotations

import pytest
from searches import TWENTY

from optuna_zaps.search.profiles import Profile
from optuna_zaps.search.schedule import BudgetSchedule
from optuna_zaps.search.schedule import Schedule


@pytest.mark.parametrize(
    ("budget", "n_startup", "batch"),
    [(200, 50, 75), (300, 75, 112), (100, 25, 37), (50, 12, 19), (10, 10, 1), (30, 10, 10)],
)
def test_the_papers_schedule(budget: int, n_startup: int, batch: int) -> None:
    # n0 = max(10, B // 4) and b = max(1, (B - n0) // T) with T = 2: Algorithm 3, line 2.
    schedule = Profile.paper(budget).schedule
    assert isinstance(schedule, BudgetSchedule)
    assert (schedule.n_startup, schedule.batch) == (n_startup, batch)


def test_the_paper_fits_twice_and_a_study_beyond_its_budget_goes_on_in_batches() -> None:
    sizes = [max(Profile.paper(300).schedule.training_sizes(n)) for n in range(75, 301)]
    assert sorted(set(sizes[:-1])) == [75, 187]
    assert sizes.index(187) == 112
    assert (
        max(Profile.paper(300).schedule.training_sizes(299)) == 187
    )  # the evaluation that the floor leaves
    # n0 + 2 b = 75 + 2 * 112: the model of a trial beyond the budget.
    assert max(Profile.paper(300).schedule.training_sizes(300)) == 299
    assert max(Profile.paper(200).schedule.training_sizes(275)) == 275


def test_the_anytime_schedule_fits_at_every_tenth_of_growth() -> None:
    sizes = [max(TWENTY.training_sizes(n)) for n in range(20, 46)]
    assert sorted(set(sizes)) == [20, 22, 24, 26, 28, 30, 33, 36, 39, 42]
    assert all(size <= n < size * 1.1 + 1 for size, n in zip(sizes, range(20, 46), strict=True))


@pytest.mark.parametrize("schedule", [Profile.paper(200).schedule, TWENTY])
def test_fewer_labels_than_planned_are_all_used(schedule: Schedule) -> None:
    assert [max(schedule.training_sizes(n)) for n in (2, 9, 20)] == [2, 9, 20]
