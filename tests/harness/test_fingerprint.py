from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from importlib import import_module
from importlib import invalidate_caches
import importlib.util
from pathlib import Path
import re
import shutil
import sys
import time

import optuna
import pytest

from harness import problems
from harness import samplers
from harness.experiment import Cell
from harness.experiment import make_cells
from harness.fingerprint import fingerprint
from harness.run.runner import run
from harness.run.store import Store
from optuna_zaps import ZAPSSampler


SAMPLER = '''\
"""A sampler of a user's own."""

from optuna.samplers import RandomSampler

from users_package.draws import draw
from users_package import scale


class Own(RandomSampler):
    """It draws."""

    # A comment.
    def __init__(self, seed=None, factor=2):
        """Make it."""
        super().__init__(seed=seed)
        self.factor = factor

    def sample_independent(self, study, trial, name, distribution):
        value = super().sample_independent(study, trial, name, distribution)
        if scale.half(len(str(value))) * self.factor + draw() > 100:
            raise RuntimeError
        return value
'''
DRAWS = """\
def draw():
    from users_package.deeper import constants as values

    return values.START


def other():
    return 0
"""
FILES = {
    "__init__.py": "from users_package.sampler import Own as Own\n",
    "sampler.py": SAMPLER,
    "draws.py": DRAWS,
    "scale.py": "import users_package.deeper.constants\n\n\ndef half(number):\n"
    "    return users_package.deeper.constants.HALF * number\n",
    "deeper/__init__.py": "",
    "deeper/constants.py": "from __future__ import annotations\n\n"
    "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from .. import draws\n\n"
    "HALF = 0.5\nSTART = 3\n",
}


def forget() -> None:
    """Do as a new process would, which has read none of the files."""
    for name in list(sys.modules):
        if name.partition(".")[0] in ("users_package", "copied_zaps", "users_file"):
            del sys.modules[name]
    invalidate_caches()
    fingerprint.cache_clear()


class Package:
    """A package on Python's path that tests edit."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name, text in FILES.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def edit(self, name: str, old: str, new: str) -> None:
        path = self.root / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    def fingerprint(self) -> str:
        forget()
        return fingerprint("users_package.sampler")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Package]:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield Package(tmp_path / "users_package")
    forget()


def rename_the_constants(package: Package) -> None:
    (package.root / "deeper/constants.py").rename(package.root / "numbers.py")
    package.edit("numbers.py", "from .. import draws", "from . import draws")
    package.edit(
        "draws.py", "users_package.deeper import constants", "users_package import numbers"
    )
    package.edit("scale.py", "users_package.deeper.constants", "users_package.numbers")


def rename_what_is_used_as_attribute(package: Package) -> None:
    (package.root / "scale.py").rename(package.root / "a_scale.py")
    # On another line, as a sorter of imports would have it.
    package.edit("sampler.py", "from users_package import scale\n", "")
    package.edit(
        "sampler.py",
        "from optuna.samplers",
        "from users_package import a_scale\nfrom optuna.samplers",
    )
    package.edit("sampler.py", "scale.half", "a_scale.half")


def split_into_a_package(package: Package) -> None:
    (package.root / "draws").mkdir()
    (package.root / "draws.py").rename(package.root / "draws/__init__.py")


def import_relatively(package: Package) -> None:
    package.edit("sampler.py", "from users_package import scale", "from . import scale")
    package.edit("sampler.py", "from users_package.draws import", "from .draws import")


def reformat(package: Package) -> None:
    package.edit("sampler.py", "trial, name, distribution)", "\n trial, name, distribution, )")
    package.edit("sampler.py", "    # A comment.\n", "\n\n    # Another, which is longer.\n")
    package.edit(
        "draws.py", "    return values.START", "    return (\n        values.START)  # start"
    )


def edit_docstrings(package: Package) -> None:
    package.edit("sampler.py", '"""A sampler of a user\'s own."""', '"""A sampler."""')
    package.edit("sampler.py", '        """Make it."""\n', "")
    package.edit("draws.py", "def other():\n", 'def other():\n    """Return zero."""\n')


def edit_what_is_not_imported(package: Package) -> None:
    (package.root / "report.py").write_text("WIDTH = 3\n", encoding="utf-8")
    package.edit("__init__.py", "Own as Own", "Own as Own, RandomSampler")


def read_types_from_elsewhere(package: Package) -> None:
    package.edit("deeper/constants.py", "from .. import draws", "from .. import scale")


@pytest.mark.parametrize(
    "change",
    [
        rename_the_constants,
        rename_what_is_used_as_attribute,
        split_into_a_package,
        import_relatively,
        reformat,
        edit_docstrings,
        edit_what_is_not_imported,
        read_types_from_elsewhere,
    ],
)
def test_code_that_does_the_same_computes_nothing_anew(
    change: Callable[[Package], None], package: Package, tmp_path: Path
) -> None:
    store = Store(tmp_path / "results")
    problem = problems.load("functions/branin")

    def missing() -> list[Cell]:
        forget()
        spec = samplers.make_spec("users_package.sampler:Own")
        return store.missing(make_cells([problem], [spec], [0, 1], [5]))

    cells = missing()
    assert len(cells) == 2
    before = package.fingerprint()
    assert all(outcome.error is None for outcome in run(cells, store, n_jobs=1))
    change(package)
    assert package.fingerprint() == before
    assert missing() == []


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("sampler.py", "factor=2", "factor=3"),
        ("sampler.py", "> 100", ">= 100"),
        ("sampler.py", "* self.factor", "/ self.factor"),
        ("sampler.py", "import draw\n", "import other as draw\n"),
        ("sampler.py", "scale.half", "scale.double"),
        ("sampler.py", "import RandomSampler", "import TPESampler as RandomSampler"),
        ("draws.py", "values.START", "values.HALF"),
        ("draws.py", "users_package.deeper import constants", "users_package import scale"),
        ("draws.py", "return 0", "return 0.0"),
        ("deeper/constants.py", "HALF = 0.5", "HALF = 0.6"),
        ("deeper/constants.py", "START = 3", "START = '3'"),
    ],
)
def test_other_code_is_told_apart(file: str, old: str, new: str, package: Package) -> None:
    before = package.fingerprint()
    package.edit(file, old, new)
    assert package.fingerprint() != before


def test_swapped_modules_are_told_apart(package: Package) -> None:
    before = package.fingerprint()
    package.edit(
        "sampler.py",
        "from users_package.draws import draw",
        "from users_package.scale import half",
    )
    package.edit("sampler.py", "import scale", "import draws")
    assert package.fingerprint() != before


def test_modules_that_import_each_other_change_together(package: Package) -> None:
    package.edit("deeper/constants.py", "HALF", "from users_package import sampler\n\nHALF")
    modules = ("users_package.sampler", "users_package.deeper.constants")
    before = [fingerprint(module) for module in modules]
    assert len(set(before)) == 2
    package.edit("sampler.py", "factor=2", "factor=3")
    forget()
    after = [fingerprint(module) for module in modules]
    assert not set(after) & set(before)


def test_a_variable_of_a_modules_name_is_no_module(package: Package) -> None:
    package.edit("sampler.py", "name, distribution)", "scale, distribution)")
    before = package.fingerprint()
    package.edit("sampler.py", "scale.half", "self.half")
    assert package.fingerprint() != before


@pytest.mark.parametrize(
    "source", ["def broken(:", "x = 1\0", "from ..nothing import x", "x = " + "+".join("1" * 900)]
)
def test_a_file_that_python_cannot_read_counts_by_its_bytes(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "users_file.py"
    found = []
    for comment in ("# one", "# two"):
        forget()
        file.write_text(f"{source}\n{comment}", encoding="utf-8")
        found.append(fingerprint("users_file"))
    forget()
    assert found[0] != found[1]


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of optuna_zaps under another name."""
    monkeypatch.syspath_prepend(tmp_path)
    root = tmp_path / "copied_zaps"
    spec = importlib.util.find_spec("optuna_zaps")
    assert spec is not None and spec.origin is not None
    shutil.copytree(Path(spec.origin).parent, root, ignore=shutil.ignore_patterns("__pycache__"))
    for path in root.rglob("*.py"):
        rewrite(path, r"^(\s*)from optuna_zaps\b", r"\1from copied_zaps")
    yield root
    forget()


def rewrite(path: Path, pattern: str, replacement: str) -> bool:
    text = path.read_text(encoding="utf-8")
    changed = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    path.write_text(changed, encoding="utf-8")
    return changed != text


def of_copy() -> str:
    forget()
    return fingerprint("copied_zaps.sampler")


def test_a_copy_of_zaps_is_zaps(copied: Path) -> None:
    assert of_copy() == fingerprint("optuna_zaps.sampler") == fingerprint(ZAPSSampler.__module__)


def test_every_module_of_zaps_may_move(copied: Path) -> None:
    before = of_copy()
    moved = sorted(path.stem for path in (copied / "search").glob("[a-z]*.py"))
    for name in moved:
        (copied / f"search/{name}.py").rename(copied / f"search/moved_{name}.py")
    for path in copied.rglob("*.py"):
        rewrite(path, rf"(copied_zaps\.search\.)({'|'.join(moved)})\b", r"\1moved_\2")
        rewrite(
            path, rf"(from copied_zaps\.search import )({'|'.join(moved)})\b", r"\1moved_\2 as \2"
        )
    assert of_copy() == before
    import_module("copied_zaps.sampler")


def test_docstrings_comments_and_the_proxies_of_zaps_may_change(copied: Path) -> None:
    before = of_copy()
    for path in copied.rglob("*.py"):
        rewrite(path, r'^( *""")\w', r"\1Otherwise: ")
        rewrite(path, r" +#.*$", "  # otherwise")
    assert any(rewrite(path, r"return ", "return 1 + ") for path in copied.glob("zerocost/*.py"))
    assert of_copy() == before


def test_every_module_of_zaps_counts_apart_from_extras(
    copied: Path,
) -> None:
    before, counted = of_copy(), set()
    for path in copied.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        path.write_text(f"{text}\nMORE = 1\n", encoding="utf-8")
        if of_copy() != before:
            counted.add(path.relative_to(copied).as_posix())
        path.write_text(text, encoding="utf-8")
    modules = {p.relative_to(copied).as_posix() for p in copied.rglob("[a-z]*.py")}
    # Of ProxyFit a sampler is given the names that it has selected.
    apart = ("dashboard/", "search/estimator.py", "zerocost/")
    assert {name for name in modules if not name.startswith(apart)} <= counted
    assert not [name for name in counted if name.startswith(apart)]


def test_the_fingerprint_takes_well_under_a_second() -> None:
    forget()
    begun = time.process_time()
    fingerprint("optuna_zaps.sampler")
    assert time.process_time() - begun < 1
    begun = time.process_time()
    fingerprint("optuna_zaps.sampler")
    assert time.process_time() - begun < 0.01


def test_versions_are_told_apart() -> None:
    assert samplers.make_spec("tpe").fingerprint == f"optuna {optuna.__version__}"
    assert samplers.make_spec("zaps").fingerprint.endswith(f"optuna {optuna.__version__}")
    assert "xgboost" in samplers.make_spec("zaps").fingerprint


def test_a_baseline_depends_on_what_it_imports_and_not_on_other_baselines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = ("local-search", "rea", "bananas", "suite-zero-bananas")
    before = {name: samplers.make_spec(name).fingerprint for name in names}
    assert len(set(before.values())) == len(names)
    assert "xgboost" in before["suite-zero-bananas"]
    assert "xgboost" not in before["rea"]

    read_bytes = Path.read_bytes

    def changed(path: Path) -> bytes:
        return read_bytes(path) + (b"\nMORE = 1\n" if path.name == "mutation.py" else b"")

    forget()
    monkeypatch.setattr(Path, "read_bytes", changed)
    after = {name: samplers.make_spec(name).fingerprint for name in names}
    monkeypatch.undo()
    forget()
    assert [name for name in names if before[name] != after[name]] == ["rea", "bananas"]
