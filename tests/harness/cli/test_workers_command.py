from __future__ import annotations

from pathlib import Path

import optuna
import pandas as pd
import pytest
from typer.testing import CliRunner

from harness import experiment_file
from harness.cli import app
from harness.run.store import Store


SMALL = ("hpo/australian", "functions/branin", "-s", "tpe", "-s", "random", "--seeds", "2",
         "--budget", "8", "--n-jobs", "1")  # fmt: skip


def call(*arguments: str, code: int = 0) -> str:
    result = CliRunner(env={"COLUMNS": "80", "TERM": "dumb"}).invoke(app, list(arguments))
    assert result.exit_code == code, result.output
    return " ".join(result.output.replace("│", " ").split())


def test_workers_are_a_setting_of_the_comparison(tmp_path: Path) -> None:
    there = ("--output", str(tmp_path))
    output = call("compare", *SMALL, "--workers", "3", *there)
    for text in (
        "training time of its configuration on the simulated clock (mean of the table: 39 s)",
        "log-normal time on the simulated clock",
        "hpo/australian, 8 evaluations, 3 workers, measured or log-normal times, 2 seeds",
        "Mean rank of regret % over 2 problems, over simulated time, 3 workers",
        "regret %: hpo/australian, over simulated time",
    ):
        assert text in output
    times = pd.read_csv(tmp_path / "simulated_time.csv")
    assert len(times) == 2 * 3 * 4
    last = times[times["share"] == 1.0]
    assert (last.groupby("problem")["n_ended"].max() == 8).all()
    page = (tmp_path / "dashboard.html").read_text(encoding="utf-8")
    assert 'name="axis" value="clock"' in page
    file = tmp_path / "experiment.toml"
    assert experiment_file.read(file)["workers"] == 3
    assert experiment_file.read(file)["durations"] == "measured"
    assert "8 of 8 studies are already done" in call("compare", str(file), *there)
    # Other durations and no clock are other settings, which a report keeps apart.
    call("compare", *SMALL, "--workers", "3", "--durations", "equal", *there)
    call("compare", *SMALL, "--in-flight", "3", *there)
    settings = [(cell.in_flight, cell.durations) for cell in cells(tmp_path)]
    assert sorted(set(settings)) == [(3, ""), (3, "equal"), (3, "measured")]
    assert "3 workers, equal times" in call("report", str(tmp_path))


def cells(directory: Path) -> list[object]:
    return [result.cell for result in Store(directory).load_all()]


def test_exported_workers_ran_side_by_side_for_as_long(tmp_path: Path) -> None:
    call("compare", *SMALL[1:], "--workers", "3", "--output", str(tmp_path))
    url = f"sqlite:///{tmp_path / 'studies.db'}"
    assert "4 studies written" in call("export", str(tmp_path), "--storage", url)
    (result, *_) = Store(tmp_path).load_all()
    name = (
        f"functions/branin · {result.cell.sampler.label} · 8 evaluations · "
        "3 workers, measured or log-normal times · seed 0"
    )
    trials = optuna.load_study(study_name=name, storage=url).trials
    begins = [t.datetime_start for t in trials]
    ends = sorted(t.datetime_complete for t in trials)
    # Three begin at once, and each other one when a trial ends.
    assert begins == [begins[0]] * 3 + ends[:5]
    seconds = [(t.datetime_complete - begins[0]).total_seconds() for t in trials]
    assert seconds == pytest.approx(result.seconds, abs=1e-5)
    call("report", url, "--group-by", "sampler", "--output", str(tmp_path / "again"))
    there, again = (
        pd.read_csv(file).query("share == 1").set_index(["sampler", "seed"])["best_value"]
        for file in (tmp_path / "simulated_time.csv", tmp_path / "again" / "wall_clock.csv")
    )
    pd.testing.assert_series_equal(there.sort_index(), again.sort_index())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--workers", "0"), "Invalid value for '--workers'"),
        (("--workers", "2", "--in-flight", "2"), "either --workers or trials --in-flight"),
        (("--durations", "equal"), "Only --workers take --durations"),
        (("--workers", "2", "--durations", "slow"), "--durations must be one of ['measured'"),
    ],
)
def test_a_mistake_is_told_before_any_study(
    options: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    output = call("compare", *SMALL, *options, "--output", str(tmp_path / "none"), code=2)
    assert message in output
    assert not (tmp_path / "none").exists()
