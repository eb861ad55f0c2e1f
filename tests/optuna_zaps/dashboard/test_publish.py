"""Figures and note that publish() leaves in a study, read as optuna-dashboard's page reads it."""

from __future__ import annotations

import os
from pathlib import Path
import subprocess
import sys
from typing import Any
import warnings

import numpy as np
import optuna
from optuna.distributions import CategoricalDistribution
import pandas as pd
import pytest

from optuna_zaps import ZAPSSampler


optuna_dashboard = pytest.importorskip(
    "optuna_dashboard", reason="needs optuna-dashboard: pip install 'optuna-zaps[dashboard]'"
)

from dashboard_page import IDS  # noqa: E402
from dashboard_page import Page  # noqa: E402

from optuna_zaps.dashboard import PublishCallback  # noqa: E402
from optuna_zaps.dashboard import publish  # noqa: E402
from optuna_zaps.dashboard import record_proxies  # noqa: E402


SPACE: dict[str, list[Any]] = {
    "width": [8, 16, 32, 64],
    "depth": [1, 2, 3, 4, 5],
    "act": ["relu", "gelu", "tanh"],
}
HEADING = "## ZAPS: progress and current beliefs"


def proxies(params: dict[str, Any]) -> dict[str, float]:
    return {
        "cost": params["depth"] * params["width"] ** 2,
        "depth": params["depth"],
        "noise": hash((params["depth"], params["width"])) % 7,
    }


def suggest(trial: optuna.Trial) -> dict[str, Any]:
    return {name: trial.suggest_categorical(name, choices) for name, choices in SPACE.items()}


def value_of(params: dict[str, Any]) -> float:
    return float(
        params["width"] ** 0.5 - (params["depth"] - 3) ** 2 + (params["act"] == "gelu") / 2
    )


def objective(trial: optuna.Trial) -> float:
    return value_of(suggest(trial))


def make_sampler(**arguments: Any) -> ZAPSSampler:
    arguments = {"search_space": SPACE, "n_startup_trials": 6, "seed": 0} | arguments
    return ZAPSSampler(arguments.pop("proxies", proxies), **arguments)


def make_study(sampler: optuna.samplers.BaseSampler, **arguments: Any) -> optuna.Study:
    return optuna.create_study(sampler=sampler, **({"direction": "maximize"} | arguments))


@pytest.fixture
def study() -> optuna.Study:
    study = make_study(make_sampler())
    study.optimize(objective, n_trials=25)
    return study


def table_sampler(**arguments: Any) -> ZAPSSampler:
    grid = pd.MultiIndex.from_product(SPACE.values(), names=list(SPACE)).to_frame(index=False)
    table = grid.astype(object)
    numbers = pd.DataFrame([proxies(dict(row)) for _, row in grid.iterrows()], dtype=float)
    numbers.columns = [f"p{name}" for name in numbers]
    return make_sampler(proxies=pd.concat([table, numbers], axis=1), **arguments)


def test_six_figures_below_100_kb(study: optuna.Study) -> None:
    publish(study)
    page = Page(study)
    assert page.texts.keys() == IDS
    assert max(map(len, page.texts.values())) < 100_000
    # Far less for a small study: every poll of the page transfers all of them.
    assert sum(map(len, page.texts.values())) < 60_000
    assert page.note.startswith(HEADING)
    assert "left out" not in page.note


def test_publishing_again_replaces(study: optuna.Study) -> None:
    publish(study)
    study.optimize(objective, n_trials=3)
    publish(study)
    page = Page(study)
    assert page.texts.keys() == IDS
    assert page.note.count(HEADING) == 1
    assert "28 complete" in page.note
    assert "25 complete" not in page.note


def test_sizes_do_not_grow_with_a_study() -> None:
    names = [f"parameter {'long ' * 10} {i}" for i in range(6)]
    rng = np.random.default_rng(0)
    codes = np.array(np.unravel_index(np.arange(4**6), (4,) * 6)).T
    table = pd.DataFrame(codes, columns=names).astype(str).astype(object)
    columns = [f"proxy {'wide ' * 10} {i}" for i in range(40)]
    table[columns] = rng.normal(size=(len(table), 40)) + codes[:, :1]
    sampler = ZAPSSampler(table, seed=0)
    study = make_study(sampler)
    distributions = {name: CategoricalDistribution(tuple("0123")) for name in names}
    study.add_trials(
        optuna.create_trial(
            params=dict(zip(names, map(str, codes[i % 4**6]), strict=True)),
            distributions=distributions,
            value=float(rng.normal() / 3),
            user_attrs={
                "zaps:phase": "model",
                "zaps:mean": float(rng.normal()),
                "zaps:std": float(rng.random()) / 3,
                "zaps:acquisition": float(rng.normal()),
                "zaps:proxies": ", ".join(rng.choice(columns, 12, replace=False)),
            },
        )
        for i in range(3000)
    )
    publish(study)
    page = Page(study)
    assert page.texts.keys() == IDS
    assert {name: len(text) for name, text in page.texts.items() if len(text) >= 100_000} == {}
    assert len(page.note) < 20_000


def test_the_note_tells_what_was_done_and_is_believed(study: optuna.Study) -> None:
    publish(study)
    note = Page(study).note
    best = study.best_trial
    phases = [trial.user_attrs["zaps:phase"] for trial in study.trials]
    assert "25 complete" in note
    assert f"{phases.count('model')} chosen by the model" in note
    assert f"**{best.value:.5g}** (maximized), in trial {best.number}" in note
    ranking = study.sampler.rank(study, n=1)  # type: ignore[attr-defined]
    first = next(line for line in note.splitlines() if line.startswith("| 1 |"))
    assert f"{ranking['mean'].iloc[0]:.5g} ±" in first
    assert all(f"`{ranking[name].iloc[0]}`" in first for name in SPACE)
    assert "results" in note
    assert "within one predicted standard deviation" in note


def test_predictions_are_those_made_before_the_results(study: optuna.Study) -> None:
    publish(study)
    points, _ = Page(study).figures["zaps-prediction"]["data"]
    chosen = [trial for trial in study.trials if "zaps:mean" in trial.user_attrs]
    assert len(chosen) >= 15
    assert points["text"] == [f"trial {trial.number}" for trial in chosen]
    assert points["x"] == pytest.approx([t.user_attrs["zaps:mean"] for t in chosen], rel=1e-4)
    assert points["y"] == pytest.approx([t.value for t in chosen], rel=1e-4)


def test_the_phases_of_all_trials_are_shown(study: optuna.Study) -> None:
    publish(study)
    curve, *strips = Page(study).figures["zaps-acquisition"]["data"]
    assert sorted(x for strip in strips for x in strip["x"]) == list(range(25))
    assert curve["x"] == [t.number for t in study.trials if "zaps:acquisition" in t.user_attrs]


def test_active_proxies_and_their_correlations(study: optuna.Study) -> None:
    publish(study)
    figure = Page(study).figures["zaps-proxies"]
    names = figure["layout"]["yaxis"]["ticktext"]
    assert set(names) == {"cost", "depth", "noise"}
    timeline, bars = figure["data"]
    for row, name in zip(timeline["z"], names, strict=True):
        told = [name in t.user_attrs.get("zaps:proxies", "") for t in study.trials]
        assert list(map(bool, row)) == told
    costs = pd.Series([proxies(trial.params)["cost"] for trial in study.trials]).rank()
    values = pd.Series([trial.value for trial in study.trials]).rank()
    expected = np.corrcoef(costs, values)[0, 1]
    assert bars["x"][names.index("cost")] == pytest.approx(expected, abs=1e-4)


def test_the_map_marks_the_best(study: optuna.Study) -> None:
    publish(study)
    page = Page(study)
    layout = page.figures["zaps-map"]["layout"]
    titles = [layout[axis]["title"]["text"] for axis in ("xaxis", "yaxis")]
    grid = pd.MultiIndex.from_product(SPACE.values(), names=list(SPACE)).to_frame(index=False)
    known = pd.DataFrame([proxies(dict(row)) for _, row in grid.iterrows()]).rank(pct=True)
    row = int(np.flatnonzero((grid == pd.Series(study.best_params)).all(axis=1))[0])
    best = page.trace("zaps-map", "best so far")
    for title, key in zip(titles, "xy", strict=True):
        name = title.removeprefix("rank of ")
        assert best[key] == pytest.approx([known[name][row]], abs=1e-3)
    (text,) = page.trace("zaps-map", "best left by prediction")["text"]
    assert "not evaluated" in text
    assert len(page.trace("zaps-map", "predicted best 20")["x"]) == 20
    assert len(page.trace("zaps-map", "evaluated")["x"]) == 25


def test_running_trials_are_on_the_map(study: optuna.Study) -> None:
    trial = study.ask()
    suggest(trial)
    publish(study)
    assert Page(study).trace("zaps-map", "running")["text"] == [f"trial {trial.number}, running"]


def test_the_parameter_that_matters_is_the_most_important() -> None:
    study = make_study(make_sampler())
    study.optimize(lambda trial: float(suggest(trial)["depth"]), n_trials=25)
    publish(study)
    figure = Page(study).figures["zaps-importance"]
    assert figure["layout"]["yaxis"]["ticktext"][0] == "depth"
    (bars,) = figure["data"]
    assert bars["x"][0] > 0.7
    assert sum(bars["x"]) <= 1.0


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_the_best_value_follows_the_direction(direction: str) -> None:
    study = make_study(make_sampler(), direction=direction)
    study.optimize(objective, n_trials=15)
    publish(study)
    page = Page(study)
    line = page.trace("zaps-best", "best so far")
    assert line["y"][-1] == pytest.approx(study.best_value, rel=1e-4)
    assert line["x"][-1] == 14
    changes = np.diff(line["y"])
    assert (changes >= 0).all() if direction == "maximize" else (changes <= 0).all()
    assert f"Best: {study.best_value:.5g} in trial {study.best_trial.number}" in page.title(
        "zaps-best"
    )


def test_without_proxies() -> None:
    study = make_study(make_sampler(proxies=None))
    study.optimize(objective, n_trials=20)
    publish(study)
    page = Page(study)
    assert page.texts.keys() == IDS - {"zaps-proxies", "zaps-map"}
    assert "- Map of the space: the sampler has no proxies." in page.note
    assert "- Active proxies: the sampler has no proxies." in page.note


def test_with_a_table_of_proxies() -> None:
    study = make_study(table_sampler())
    study.optimize(objective, n_trials=20)
    publish(study)
    page = Page(study)
    assert page.texts.keys() == IDS
    assert set(page.figures["zaps-proxies"]["layout"]["yaxis"]["ticktext"]) == {
        "pcost",
        "pdepth",
        "pnoise",
    }


def test_one_proxy_has_no_plane() -> None:
    study = make_study(make_sampler(proxies=lambda params: {"cost": params["width"]}))
    study.optimize(objective, n_trials=12)
    publish(study)
    page = Page(study)
    assert page.texts.keys() == IDS - {"zaps-map"}
    assert "a plane needs two proxies" in page.note


def drawn_objective(trial: optuna.Trial) -> float:
    x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
    return x * (1 - x) + y


@pytest.mark.parametrize("given", [True, False])
def test_a_space_that_cannot_be_enumerated(given: bool) -> None:
    float_distribution = optuna.distributions.FloatDistribution(0, 1)
    space = {"x": float_distribution, "y": float_distribution} if given else None
    sampler = ZAPSSampler(
        lambda params: {"a": params["x"], "b": params["y"] ** 2}, search_space=space, seed=0
    )
    study = make_study(sampler)
    study.optimize(drawn_objective, n_trials=20)
    publish(study)
    page = Page(study)
    assert page.texts.keys() == IDS
    # Also configurations that the latest pool did not draw: they were tried.
    assert len(page.trace("zaps-map", "evaluated")["x"]) == 20


def test_several_objectives() -> None:
    study = make_study(make_sampler(), direction=None, directions=["maximize", "minimize"])

    def both(trial: optuna.Trial) -> tuple[float, float]:
        params = suggest(trial)
        return value_of(params), params["depth"] * params["width"]

    study.optimize(both, n_trials=20)
    publish(study, metric_names=["accuracy", "latency"])
    page = Page(study)
    assert page.texts.keys() == IDS - {"zaps-importance", "zaps-best"}
    assert "several objectives have no single best value" in page.note
    assert page.objective_names == ["accuracy", "latency"]
    assert "`accuracy` (maximized), `latency` (minimized)" in page.note
    # A diagonal and points for each objective.
    assert len(page.figures["zaps-prediction"]["data"]) == 4


def test_objectives_are_named_on_request_alone(study: optuna.Study) -> None:
    publish(study)
    assert study.metric_names is None
    publish(study, metric_names=["accuracy"])
    assert study.metric_names == ["accuracy"]
    publish(study)
    page = Page(study)
    assert study.metric_names == ["accuracy"]
    assert page.figures["zaps-best"]["layout"]["yaxis"]["title"]["text"] == "accuracy"


@pytest.mark.skipif(
    not hasattr(optuna.Trial, "set_constraint"), reason="set_constraint came with Optuna 5"
)
def test_constraints() -> None:
    study = make_study(make_sampler())

    def constrained(trial: optuna.Trial) -> float:
        params = suggest(trial)
        trial.set_constraint("width", params["width"] - 32)
        return value_of(params)

    study.optimize(constrained, n_trials=25)
    publish(study)
    page = Page(study)
    n_violating = sum(trial.params["width"] == 64 for trial in study.trials)
    assert n_violating > 0
    assert f"of which {n_violating} violate at least one" in page.note
    assert "which optuna-dashboard 0.21 does not read" in page.note
    assert f"in trial {study.best_trial.number}" in page.note
    assert len(page.trace("zaps-best", "violates a constraint")["x"]) == n_violating


@pytest.mark.filterwarnings("ignore:.*constraints_func.*:FutureWarning")
def test_no_trial_satisfies_the_constraints() -> None:
    study = make_study(make_sampler(constraints_func=lambda trial: [1.0]))
    study.optimize(objective, n_trials=10)
    publish(study)
    page = Page(study)
    assert "No trial satisfies the constraints yet." in page.title("zaps-best")
    assert "No trial counts as best yet." in page.note
    assert "does not read" not in page.note


@pytest.mark.parametrize(
    ("n_trials", "published"), [(0, set()), (1, {"zaps-acquisition", "zaps-best", "zaps-map"})]
)
def test_too_few_values(n_trials: int, published: set[str]) -> None:
    study = make_study(make_sampler())
    study.optimize(objective, n_trials=n_trials)
    publish(study)
    page = Page(study)
    assert page.texts.keys() == published
    assert "a ranking needs at least 2 configurations" in page.note
    assert "Importance of parameters: there is no ranking." in page.note


def test_trials_that_failed_before_all_parameters() -> None:
    study = make_study(make_sampler())

    def failing(trial: optuna.Trial) -> float:
        trial.suggest_categorical("width", SPACE["width"])
        raise ValueError

    study.optimize(failing, n_trials=3, catch=ValueError)
    publish(study)
    page = Page(study)
    assert page.texts.keys() == {"zaps-acquisition"}
    assert "no trial has a configuration whose proxies are known" in page.note


def test_failed_pruned_and_infinite_trials() -> None:
    study = make_study(make_sampler())

    def troubled(trial: optuna.Trial) -> float:
        value = objective(trial)
        if trial.number % 5 == 1:
            raise ValueError
        if trial.number % 5 == 2:
            trial.report(value, 1)
            raise optuna.TrialPruned
        return -np.inf if trial.number % 5 == 3 else value

    study.optimize(troubled, n_trials=25, catch=ValueError)
    publish(study)
    page = Page(study)
    assert page.texts.keys() == IDS
    assert "15 complete, 5 pruned, 5 failed" in page.note
    assert not any("NaN" in text or "Infinity" in text for text in page.texts.values())
    _, *strips = page.figures["zaps-acquisition"]["data"]
    symbols = [symbol for strip in strips for symbol in strip["marker"]["symbol"]]
    assert symbols.count("x") == symbols.count("triangle-up") == 5


def test_a_study_by_another_sampler() -> None:
    study = make_study(optuna.samplers.RandomSampler(seed=0))
    study.optimize(objective, n_trials=15)
    publish(study, make_sampler())
    page = Page(study)
    assert page.texts.keys() == IDS - {"zaps-prediction", "zaps-acquisition"}
    assert "15 not chosen by ZAPS" in page.note
    assert "Acquisition and phase: no trial was chosen by ZAPSSampler." in page.note
    assert "No model has chosen a trial yet." in page.note


def test_the_sampler_must_be_zaps() -> None:
    study = make_study(optuna.samplers.RandomSampler(seed=0))
    with pytest.raises(TypeError, match=r"got RandomSampler\. Pass it by sampler="):
        publish(study)
    with pytest.raises(TypeError, match="got str"):
        PublishCallback(sampler="zaps")  # type: ignore[arg-type]


def test_a_resumed_study_reads_like_one_that_went_on(study: optuna.Study) -> None:
    publish(study)
    before = Page(study)
    study.sampler = make_sampler()
    publish(study)
    after = Page(study)
    assert after.figures == before.figures
    strip = str.maketrans("", "", "0123456789abcdefx")  # the sampler's address in its repr
    assert after.note.translate(strip) == before.note.translate(strip)


def test_a_resumed_study_whose_space_is_not_known_yet() -> None:
    study = make_study(make_sampler(search_space=None))
    study.optimize(objective, n_trials=20)
    publish(study, make_sampler(search_space=None))
    page = Page(study)
    assert page.texts.keys() == IDS - {"zaps-map"}
    assert "this sampler object has not chosen a configuration yet" in page.note


def test_a_figure_that_no_longer_makes_sense_says_so(study: optuna.Study) -> None:
    publish(study)
    publish(study, make_sampler(proxies=None))
    page = Page(study)
    assert page.texts.keys() == IDS
    assert page.figures["zaps-map"]["data"] == []
    assert "Left out: the sampler has no proxies." in page.title("zaps-map")


def test_the_users_own_note_is_kept(study: optuna.Study) -> None:
    optuna_dashboard.save_note(study, "# Mine\n\nAsk Ada.")
    publish(study)
    publish(study)
    note = Page(study).note
    assert note.startswith(f"# Mine\n\nAsk Ada.\n\n{HEADING}")
    assert note.count(HEADING) == 1


def test_names_cannot_break_the_page() -> None:
    space = {"a|b": ["<b>x", "y`|"], "$c$": [1, True, None], "8": [0.1, 0.2, 0.3]}
    odd = ZAPSSampler(
        lambda params: {"<i>": params["8"], "p|`q": len(params["a|b"]), "9": 1 / params["8"]},
        search_space=space,
        n_startup_trials=4,
        seed=0,
    )
    study = make_study(odd)
    study.optimize(
        lambda trial: float([trial.suggest_categorical(n, c) for n, c in space.items()][2]),
        n_trials=12,
    )
    publish(study, metric_names=["<script>"])
    page = Page(study)
    assert page.texts.keys() == IDS
    assert not any("<script>" in text or "<i>" in text for text in page.texts.values())
    tables = [line for line in page.note.splitlines() if line.startswith("|")]
    bars = {line.replace("\\|", "").count("|") for line in tables}
    assert bars <= {4, 7}


def test_publishing_changes_no_decision() -> None:
    def trials(callbacks: list[Any]) -> list[Any]:
        study = make_study(make_sampler(proxies=proxies))
        study.optimize(objective, n_trials=25, callbacks=callbacks)
        return [(trial.params, trial.user_attrs) for trial in study.trials]

    assert trials([PublishCallback(3)]) == trials([])


@pytest.mark.parametrize("n_jobs", [1, 4])
def test_the_callback_publishes_every_few_trials(n_jobs: int) -> None:
    study = make_study(make_sampler())
    seen: list[str] = []
    callbacks = [PublishCallback(10), lambda study, _: seen.append(Page(study).note)]
    study.optimize(objective, n_trials=25, callbacks=callbacks, n_jobs=n_jobs)
    page = Page(study)
    assert page.texts.keys() == IDS
    if n_jobs == 1:
        assert [bool(note) for note in seen] == [False] * 9 + [True] * 16
        assert "after 10 trials" in seen[9]
        assert seen[18] == seen[9]
        assert "after 20 trials" in seen[24]


def test_a_failure_to_publish_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    study = make_study(optuna.samplers.RandomSampler(seed=0))
    study.optimize(objective, n_trials=20, callbacks=[PublishCallback(5)])
    assert len(study.trials) == 20
    (told,) = (r for r in caplog.records if r.levelname == "WARNING")
    assert "not published after trial 4: TypeError: sampler must be a ZAPSSampler" in told.message


@pytest.mark.parametrize("every", [0, -1, 2.5])
def test_every_is_a_positive_integer(every: Any) -> None:
    with pytest.raises(ValueError, match="every must be"):
        PublishCallback(every)


def test_a_wrapped_sampler_is_given() -> None:
    inner = make_sampler()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        wrapper = optuna.samplers.PartialFixedSampler({"act": "gelu"}, inner)
    study = make_study(wrapper)
    study.optimize(objective, n_trials=12, callbacks=[PublishCallback(6, sampler=inner)])
    assert "zaps-prediction" in Page(study).texts


def test_proxies_of_a_trial_are_attributes() -> None:
    sampler = make_sampler(
        proxies=lambda params: {"depth": params["depth"] / 3, "big": params["width"] * 123456.7}
    )
    study = make_study(sampler)

    def recorded(trial: optuna.Trial) -> float:
        value = objective(trial)
        record_proxies(trial)
        return value

    study.optimize(recorded, n_trials=3)
    for trial in study.trials:
        told = {k: v for k, v in trial.user_attrs.items() if k.startswith("zaps:proxy:")}
        assert told == {
            "zaps:proxy:depth": float(f"{trial.params['depth'] / 3:.5g}"),
            "zaps:proxy:big": float(f"{trial.params['width'] * 123456.7:.5g}"),
        }


def test_proxies_that_are_not_known_are_not_recorded() -> None:
    study = make_study(make_sampler(search_space=None))
    unknown_space = study.ask()
    suggest(unknown_space)
    record_proxies(unknown_space)
    study = make_study(make_sampler())
    off_table, too_early = study.ask(), study.ask()
    off_table.suggest_categorical("width", [9])
    off_table.suggest_categorical("depth", SPACE["depth"])
    off_table.suggest_categorical("act", SPACE["act"])
    record_proxies(off_table)
    record_proxies(too_early)
    for trial in (unknown_space, off_table, too_early):
        assert not any(key.startswith("zaps:proxy") for key in trial.user_attrs)


def test_proxies_are_those_of_zaps() -> None:
    with pytest.raises(TypeError, match="got RandomSampler"):
        record_proxies(make_study(optuna.samplers.RandomSampler()).ask())


def storages() -> list[str]:
    return ["sqlite", *os.environ.get("ZAPS_TEST_STORAGES", "").split()]


@pytest.mark.parametrize("url", storages())
def test_on_databases(url: str, tmp_path: Path, study: optuna.Study) -> None:
    url = f"sqlite:///{tmp_path / 'study.db'}" if url == "sqlite" else url
    try:
        storage = optuna.storages.RDBStorage(url)
    except Exception as error:
        pytest.skip(f"needs the database {url}: {type(error).__name__}")
    copy = make_study(make_sampler(), storage=storage)
    try:
        copy.add_trials(study.trials)
        publish(copy)
        publish(study)
        assert Page(copy).figures == Page(study).figures
    finally:
        optuna.delete_study(study_name=copy.study_name, storage=storage)
        storage.remove_session()
        storage.engine.dispose()


def test_without_optuna_dashboard() -> None:
    code = (
        "import sys, optuna_zaps; sys.modules['optuna_dashboard'] = None\n"
        "import optuna_zaps.dashboard"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "ImportError: optuna_zaps.dashboard needs optuna-dashboard" in done.stderr
    assert 'pip install "optuna-zaps[dashboard]"' in done.stderr
