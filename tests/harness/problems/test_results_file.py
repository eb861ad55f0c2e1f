from __future__ import annotations

from pathlib import Path

import numpy as np
from optuna.distributions import CategoricalDistribution
from optuna.distributions import IntDistribution
from optuna.study import StudyDirection
import pandas as pd
import pytest

from harness import problems
from harness.problems import Kind
from harness.problems.mixed_projection import MixedProjection
from harness.problems.options import compose
from harness.problems.options import decompose


ROWS = pd.DataFrame(
    {
        "run": range(8),
        "lr": [0.1, 0.01, 0.001, 0.1, 0.01, 0.001, 0.1, 0.01],
        "act": ["relu", "relu", "relu", "None", "None", "None", "gelu", "gelu"],
        "flops": [4.0, 5.0, 6.0, 1.0, 2.0, 3.0, 8.0, 9.0],
        "score": [0.1, 0.5, 0.3, 0.2, 0.9, 0.4, 0.6, 0.8],
        "latency": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
    }
)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    path = tmp_path / "runs.csv"
    ROWS.to_csv(path, index=False)
    return path


def test_a_table_by_hand(runs: Path) -> None:
    table = problems.load_table(f"{runs}?params=lr,act&objective=score&proxies=flops")
    assert table.search_space == {
        "lr": IntDistribution(0, 2),
        "act": CategoricalDistribution(("relu", "None", "gelu")),
    }
    assert table.levels == {"lr": [0.001, 0.01, 0.1]}
    assert table.evaluate({"lr": 1, "act": "None"}) == 0.9
    assert (table.optimum, table.typical, table.direction) == (0.9, 0.45, StudyDirection.MAXIMIZE)
    assert table.proxies["flops"].tolist() == ROWS["flops"].tolist()
    assert problems.short_name(table.text) == "runs.csv: score"
    assert problems.load(table.text) is table


@pytest.mark.parametrize("suffix", [".parquet", ".xlsx"])
def test_every_format_holds_the_same_table(suffix: str, runs: Path) -> None:
    if suffix == ".xlsx":
        pytest.importorskip("openpyxl")
        ROWS.to_excel(runs.with_suffix(suffix), index=False)
    else:
        ROWS.to_parquet(runs.with_suffix(suffix))
    options = "?params=lr,act&objective=score&direction=minimize"
    first, second = (
        problems.load(f"{path}{options}") for path in (runs, runs.with_suffix(suffix))
    )
    assert first.fingerprint == second.fingerprint
    assert first.text != second.text


def test_text_columns_are_the_parameters_unless_some_are_named(runs: Path) -> None:
    table = problems.load_table(f"{runs}?objective=score")
    assert list(table.search_space) == ["act"]
    assert "8" not in table.notes[0]
    assert "5 rows repeat one, and their numbers are averaged" in table.notes[0]
    assert table.values.tolist() == pytest.approx([0.3, 0.5, 0.7])


def test_objectives_with_directions_and_a_limit_from_both_sides(runs: Path) -> None:
    problem = problems.load(
        f"{runs}?params=lr,act&objective=score,latency&direction=maximize,minimize"
        "&limit=latency<=7,latency>=2"
    )
    assert problem.kind == Kind.TRADEOFF
    assert problem.directions == [StudyDirection.MAXIMIZE, StudyDirection.MINIMIZE]
    assert problem.feasible.tolist() == [False, *[True] * 6, False]
    evaluation = problem.begin(0)({"lr": 1, "act": "gelu"})
    assert evaluation.measurement.values == (0.8, 8.0)
    assert evaluation.measurement.constraints == {"latency": 1.0, "latency >=": -6.0}
    assert np.isinf(problem.losses[7]).all()
    limited = problems.load(f"{runs}?params=lr,act&objective=score&limit=latency<=4")
    assert limited.kind == Kind.LIMIT
    assert limited.optimum == 0.5
    assert "50 % of configurations with latency of at most 4" in limited.notes[-1]


def test_a_change_of_a_used_column_is_another_problem_and_of_another_is_not(runs: Path) -> None:
    text = f"{runs}?params=lr,act&objective=score&proxies=flops"
    before = problems.load(text).fingerprint
    ROWS.assign(latency=0).to_csv(runs, index=False)
    assert problems.load(text).fingerprint == before
    seen = {before}
    for changed in (
        ROWS.assign(lr=ROWS["lr"] * 2),
        ROWS.assign(score=ROWS["score"] + 1),
        ROWS.assign(flops=0),
        ROWS.assign(act=ROWS["act"].str.upper()),
    ):
        changed.to_csv(runs, index=False)
        seen.add(problems.load(text).fingerprint)
    seen.add(problems.load(f"{text}&direction=minimize").fingerprint)
    for limit in (1, 2):
        seen.add(problems.load(f"{text}&limit=latency<={limit}").fingerprint)
    assert len(seen) == 8


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, "params=lr,act", "objective of runs.csv must be named .* run, lr, flops, score"),
        ({"act": 1}, "objective=score", "parameters of runs.csv must be named"),
        ({}, "params=lr,wdth&objective=score", "has no column 'wdth'; its columns are run, lr"),
        ({}, "params=lr&objective=scoer,score", "has no column 'scoer'"),
        ({"score": [1, None, 2, 3, 4, None, 5, 6]}, "params=lr&objective=score",
         r"'score' of runs.csv must hold a finite number .* row 2 is empty \(and so 6"),
        ({"score": ["x", *range(7)]}, "params=lr&objective=score", "row 1 holds 'x'"),
        ({"act": [*"abcdefg", None]}, "params=act&objective=score", "a value .* row 8 is empty"),
        ({"lr": 1}, "params=lr&objective=score", "at least two configurations, but holds 1"),
        ({"score": 2}, "params=lr&objective=score", "'score' .* must differ .* is 2 in all"),
        ({}, "params=lr&objective=lr", "lr is named several times"),
        ({}, "params=act&objective=score&limit=latency<5", "'column<=number'"),
        ({}, "params=act,lr&objective=score&limit=latency<=0", "must meet the limits latency<=0"),
        ({}, "params=act&objective=score&limit=act<=0", "'act' of runs.csv must hold a finite"),
        ({}, "params=act&objective=score&direction=up", "must be one of"),
        ({}, "params=act&objective=score,latency&direction=minimize,minimize,minimize",
         "one direction, or one for each of score, latency"),
        ({}, "parms=act&objective=score", "must be of .*, but got 'parms'"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_in_one_sentence(
    change: dict[str, object], options: str, message: str, runs: Path
) -> None:
    ROWS.assign(**change).to_csv(runs, index=False)
    with pytest.raises(ValueError, match=message):
        problems.load(f"{runs}?{options}")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.csv", None, "cannot be read: No such file"),
        ("empty.csv", b"", "cannot be read as a table"),
        ("wrong.parquet", b"a,b\n1,2\n", "cannot be read as a table"),
        ("bytes.csv", b"a,b\n\xff\xfe,2\n", "cannot be read as a table"),
        ("twice.csv", b"a, a,b\n1,2,3\n", "several are named 'a'"),
    ],
)
def test_a_file_that_is_no_table(
    name: str, content: bytes | None, message: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        problems.load(f"{tmp_path / name}?params=a&objective=b")


def test_a_text_keeps_names_with_every_character() -> None:
    target, options = "/my data/ä?b&c.csv", {"params": ["a,b", "c=d", "e+f", "50 %"], "limit": []}
    text = compose(target, options)
    assert decompose(text, ["params", "limit"]) == (target, options)


def test_a_proposal_that_no_row_holds_stands_for_one_with_near_numbers() -> None:
    projection = MixedProjection(np.array([[0, 0], [5, 0], [9, 1], [4, 1]]), [True, False])
    rng = np.random.default_rng(0)
    # Distances of (6, 0): 6/9, 1/9, (3/9 + 1), (2/9 + 1), halved.
    assert projection.nearest([6, 0], 4, [], rng).tolist() == [1, 0, 3, 2]
    assert projection.nearest([6, 0], 4, [1, 0], rng).tolist() == [3, 2]
