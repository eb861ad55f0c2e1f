"""Processes end with the one that started them."""

from __future__ import annotations

from collections.abc import Callable
import os
from pathlib import Path
import signal
import subprocess
import sys
import threading
import time

import pytest

from harness.run.processes import stopped_by_sigterm


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

TAG = "ZAPS_TEST_FAMILY"
SLOW = """
import os, pathlib, time
from optuna.samplers import RandomSampler

class Slow(RandomSampler):
    def sample_independent(self, *arguments):
        pathlib.Path(f"begun-{os.getpid()}").touch()
        time.sleep(60)
"""
PARENT = """
import subprocess, sys, time
child = "import os, time; from harness.run.processes import end_with_parent; "
child += "end_with_parent(int(os.environ['PARENT'])); print('ready', flush=True); time.sleep(60)"
import os
environment = {**os.environ, "PARENT": str(os.getpid())}
subprocess.Popen([sys.executable, "-c", child], env=environment)
time.sleep(60)
"""


def family(tag: str) -> list[int]:
    """Processes that live and have the tag in their environment, which children inherit."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            tagged = f"{TAG}={tag}".encode() in (folder / "environ").read_bytes()
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
        except (OSError, IndexError):
            continue
        if tagged and state != "Z":
            found.append(int(folder.name))
    return found


def wait_until(condition: Callable[[], bool], seconds: float = 60.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


def environment(tag: str) -> dict[str, str]:
    paths = [str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, TAG: tag, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_processes_of_a_comparison_end_with_it(number: signal.Signals, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    command = [sys.executable, "-m", "harness.cli", "compare", "nasbench201/cifar10@package",
               "--seeds", "6", "--budget", "20", "-s", "slow:Slow", "--n-jobs", "2", "--output",
               "results"]  # fmt: skip
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environment(str(tmp_path)),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert wait_until(lambda: len(list(tmp_path.glob("begun-*"))) == 2)
    assert len(family(str(tmp_path))) >= 3
    process.send_signal(number)
    assert wait_until(lambda: not family(str(tmp_path)), 20), "they go on"  # each study: minutes
    output, _ = process.communicate()
    if number == signal.SIGTERM:
        assert process.returncode == 128 + signal.SIGTERM
        assert "rerun the command to resume" in output
    assert list(tmp_path.glob("results/cells/*")) == []


def test_a_process_ends_when_its_parent_is_killed_and_not_before(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT], env=environment(str(tmp_path)), stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    time.sleep(1.2)  # the child looks every half second
    assert len(family(str(tmp_path))) == 2
    process.kill()  # Not waited for: a zombie is gone, too.
    assert wait_until(lambda: not family(str(tmp_path)), 10)
    process.communicate()


def test_sigterm_is_an_exit_within_a_block_and_what_it_was_after() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as caught, stopped_by_sigterm():
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)
    assert caught.value.code == 143
    assert signal.getsignal(signal.SIGTERM) == before


def test_in_another_thread_signals_are_left_alone() -> None:
    ran = []

    def block() -> None:
        with stopped_by_sigterm():
            ran.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=block)
    thread.start()
    thread.join()
    assert ran == [signal.getsignal(signal.SIGTERM)]
