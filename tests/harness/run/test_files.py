"""Files are whole or not there; a folder that cannot be written is found before anything runs."""

from __future__ import annotations

from dataclasses import replace
import errno
import os
from pathlib import Path
import stat
from typing import Any

import pandas as pd
import pytest
from toy import studies
from toy import tables
from typer.testing import CliRunner

from harness.cli import app
from harness.metrics import summarize
from harness.report import make_views
from harness.report import write_dashboard
from harness.run import files
from harness.run.files import check_writable
from harness.run.files import write_whole
from harness.suites import ONE_TABLE


COMMANDS = {
    "compare": (["compare"], ("summary.csv", "dashboard.html", "cells")),
    "suite": (["limits"], ("summary.csv", "dashboard.html", "cells")),
    "reproduce": (["reproduce", "main"], ("paper.html", "cells")),
    "published": (["reproduce", "--published"], ("published.html",)),
}


def full_disk(*_: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def fail(*arguments: Any, **_: Any) -> None:
    raise AssertionError(f"a study was run: {arguments}")


def refused(monkeypatch: pytest.MonkeyPatch, arguments: list[str], output: Path) -> str:
    for module in ("compare", "reproduce"):
        monkeypatch.setattr(f"harness.cli.{module}.run_missing", fail)
    runner = CliRunner(env={"COLUMNS": "500", "TERM": "dumb"})
    result = runner.invoke(app, [*arguments, "--output", str(output)])
    assert result.exit_code == 2, result.output
    return result.output


def test_a_full_disk_leaves_the_old_file_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.html"
    write_whole(page, "good")
    for step in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, step, full_disk)
            with pytest.raises(OSError, match="No space left"):
                write_whole(page, "cut off")
    assert page.read_text(encoding="utf-8") == "good"
    assert os.listdir(tmp_path) == ["page.html"]


@pytest.mark.parametrize("umask", [0o002, 0o077])
def test_new_files_have_the_permissions_of_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        for content in ("first", "second"):
            write_whole(tmp_path / "page.html", content)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "page.html").stat().st_mode) == 0o666 & ~umask


def test_folders_are_made(tmp_path: Path) -> None:
    write_whole(tmp_path / "a" / "b" / "page.html", "text")
    assert (tmp_path / "a" / "b" / "page.html").read_text(encoding="utf-8") == "text"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    target = tmp_path / "elsewhere" / "page.html"
    (tmp_path / "page.html").symlink_to(target)
    write_whole(tmp_path / "page.html", b"\x00bytes")
    assert (tmp_path / "page.html").is_symlink()
    assert target.read_bytes() == b"\x00bytes"


def test_a_page_that_cannot_be_saved_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "dashboard.html"
    results = studies(2, 10)
    suite = replace(ONE_TABLE, problems=tuple(table.text for table in tables()))
    views = make_views(summarize(results, tables()), [suite])
    write_dashboard(views, results, tables(), page)
    before = page.read_bytes()
    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_dashboard(views, results, tables(), page)
    assert page.read_bytes() == before
    assert os.listdir(tmp_path) == ["dashboard.html"]


def test_numbers_that_cannot_be_saved_leave_the_ones_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["compare", "nasbench201/cifar10@package", "--seeds", "1", "--budget", "3", "-s",
                 "random", "--n-jobs", "1", "--output", str(tmp_path)]  # fmt: skip
    runner = CliRunner(env={"COLUMNS": "80", "TERM": "dumb"})
    assert runner.invoke(app, arguments).exit_code == 0
    before = {name: (tmp_path / name).read_bytes() for name in ("summary.csv", "dashboard.html")}
    assert len(pd.read_csv(tmp_path / "summary.csv")) == 1
    monkeypatch.setattr(files.os, "fsync", full_disk)
    assert runner.invoke(app, arguments).exit_code == 1
    assert {name: (tmp_path / name).read_bytes() for name in before} == before
    assert {*os.listdir(tmp_path)} == {"cells", "experiment.toml", *before}


@pytest.mark.parametrize(("arguments", "_"), COMMANDS.values(), ids=COMMANDS)
def test_a_folder_that_cannot_be_made_is_told_before_anything_runs(
    arguments: list[str], _: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    output = refused(monkeypatch, arguments, tmp_path / "file" / "results")
    assert "must be one that can be written" in output


@pytest.mark.parametrize(
    ("arguments", "name"),
    [(arguments, name) for arguments, names in COMMANDS.values() for name in names],
)
def test_a_name_that_is_taken_is_told_before_anything_runs(
    arguments: list[str], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "cells":
        (tmp_path / name).touch()
    else:
        (tmp_path / name).mkdir()
    assert str(tmp_path / name) in refused(monkeypatch, arguments, tmp_path)


def test_a_folder_of_parquet_is_tried_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    arguments = ["reproduce", "main", "--write", str(tmp_path / "file" / "parquet")]
    assert "must be one that can be written" in refused(monkeypatch, arguments, tmp_path / "o")


def test_a_report_is_refused_where_its_page_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "dashboard.html").mkdir()
    result = CliRunner(env={"COLUMNS": "500"}).invoke(app, ["report", str(tmp_path)])
    assert result.exit_code == 2
    assert "must be a file that can be replaced" in result.output


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"),
                                   OSError(30, "Read-only file system"),
                                   OSError(28, "No space left on device")])  # fmt: skip
def test_a_folder_that_takes_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("harness.run.files.tempfile.NamedTemporaryFile", refuse)
    with pytest.raises(ValueError, match=f"must be one that can be written.*{error.strerror}"):
        check_writable(tmp_path)


def test_a_folder_that_can_be_written_is_left_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in (tmp_path, tmp_path / "a" / "b", Path("a"), Path()):
        check_writable(folder, ["page.html"])
    assert os.listdir(tmp_path) == []


def test_a_link_to_nowhere_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="must be one that can be written"):
        check_writable(tmp_path / "link")
