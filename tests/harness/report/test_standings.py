from __future__ import annotations

from itertools import combinations

import pandas as pd

from harness.report.standings import group_frame
from harness.report.standings import groups
from harness.report.standings import wins
from harness.statistics import compare
from harness.statistics import mean_losses


ALPHA = 0.05


def pairs(labels: str, different: set[str]) -> pd.DataFrame:
    """Pairs of one-letter labels, those given significantly different."""
    return pd.DataFrame(
        [(a, b, 0.01 if {a + b, b + a} & different else 0.5) for a, b in combinations(labels, 2)],
        columns=["sampler_a", "sampler_b", "p_holm"],
    )


def test_the_groups_of_demsar() -> None:
    # Demšar (2006), Section 3.2.2 and Figure 1: mean ranks of C4.5 (n), with m (m), with cf (c)
    # and with both (b). At p = 0.10, with a critical difference of 1.12, n is worse than m and b,
    # and c belongs to either group.
    ranks = pd.Series({"n": 3.143, "m": 2.000, "c": 2.893, "b": 1.964})
    distances = {a + b: abs(ranks[a] - ranks[b]) for a, b in combinations("nmcb", 2)}
    different = {pair for pair, distance in distances.items() if distance > 1.12}
    assert different == {"nm", "nb"}
    found = groups(ranks, pairs("nmcb", different), ALPHA)
    assert found == [["b", "m", "c"], ["c", "n"]]
    frame = group_frame(ranks, found)
    assert frame["sampler"].tolist() == ["b", "m", "c", "n"]
    assert frame["group_1"].tolist() == [True, True, True, False]
    assert frame["group_2"].tolist() == [False, False, True, True]


def test_no_difference_is_one_group_and_all_are_none() -> None:
    ranks = pd.Series({"a": 1.0, "b": 2.0, "c": 3.0})
    assert groups(ranks, pairs("abc", set()), ALPHA) == [["a", "b", "c"]]
    assert groups(ranks, pairs("abc", {"ab", "ac", "bc"}), ALPHA) == []


def test_a_group_may_pass_over_a_sampler() -> None:
    # Wilcoxon's test need not follow the ranks: b differs from both of its neighbours.
    ranks = pd.Series({"a": 1.0, "b": 2.0, "c": 3.0})
    assert groups(ranks, pairs("abc", {"ab", "bc"}), ALPHA) == [["a", "c"]]


def test_a_pair_without_a_test_is_not_told_apart() -> None:
    ranks = pd.Series({"a": 1.0, "b": 2.0})
    unknown = pd.DataFrame(
        [("a", "b", float("nan"))], columns=["sampler_a", "sampler_b", "p_holm"]
    )
    assert groups(ranks, unknown, ALPHA) == [["a", "b"]]


def test_wins_ties_and_losses_by_hand() -> None:
    # Five seeds that do not overlap: p = 1 / C(10, 5) = 0.004, times six tests 0.024. On q, a and
    # b overlap: a tie, although the mean of b is better.
    samples = {
        "p": {"a": [1.0, 2, 3, 4, 5], "b": [6.0, 7, 8, 9, 10], "c": [11.0, 12, 13, 14, 15]},
        "q": {"a": [1.0, 3, 5, 7, 9], "b": [0.0, 2, 4, 6, 8], "c": [21.0, 22, 23, 24, 25]},
    }
    summary = pd.DataFrame(
        [
            {"problem": problem, "in_flight": 1, "durations": "", "unit": "trials", "budget": 9,
             "sampler": label, "seed": seed, "regret": value}
            for problem, by_label in samples.items()
            for label, values in by_label.items()
            for seed, value in enumerate(values)
        ]
    )  # fmt: skip
    tests = compare(summary, metric="regret")
    counted = wins(tests, mean_losses(summary), ALPHA).set_index(["sampler_a", "sampler_b"])
    assert counted.loc[("a", "b")].tolist() == [1, 1, 0, 1, 0, 1]
    assert counted.loc[("b", "a")].tolist() == [0, 1, 1, 1, 0, 1]
    assert counted.loc[("a", "c")].tolist() == [2, 0, 0, 2, 0, 0]
    assert counted.loc[("c", "b")].tolist() == [0, 0, 2, 0, 0, 2]
    on_p = wins(tests, mean_losses(summary).loc[["p"]], ALPHA)
    assert on_p.loc[0, ["wins", "ties", "losses"]].tolist() == [1, 0, 0]
