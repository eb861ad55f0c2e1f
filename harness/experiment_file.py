"""A whole comparison in a file: ``zaps-harness compare experiment.toml``.

    problems = ["hpo/car", { file = "runs.csv", params = ["lr", "width"], objective = "score" }]
    samplers = ["zaps", "plain=optuna.samplers:TPESampler(multivariate=False)"]
    budgets = [50, 100]
    seeds = 10

A problem is the text that the command line has, or a table: ``file`` or ``object`` with the
options of :mod:`harness.problems.results_file` or :mod:`harness.problems.objects`. Every other
setting has the name of an option of ``compare``, where it has the same meaning; what is left out
is that of the suite, and what the command line says counts for more. Paths are relative to the
folder of the file.

Notations:
    settings: what the file says, by the names of the parameters of ``compare``.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
import json
from pathlib import Path
import sys
import tomllib
from typing import Any

from harness.experiment import CLOCKS
from harness.problems import is_own
from harness.problems import with_options
from harness.problems.options import compose
from harness.problems.options import decompose
from harness.problems.own import OPTIONS
from harness.problems.results_file import is_file
from harness.samplers import make_spec
from harness.suites import select


_TARGETS = ("file", "object")
_NUMBERS = ("optimum",)


@dataclass(frozen=True)
class _Setting:
    """A setting that a file may have.

    Attributes:
        parameter: Parameter of ``compare`` that it stands for.
        expected: What it must be, for a message.
        is_valid: Whether a value is one.
    """

    parameter: str
    expected: str
    is_valid: Callable[[Any], bool]


def _is_whole(value: Any, least: int = 1) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _is_list(value: Any, is_valid: Callable[[Any], bool] = lambda _: True) -> bool:
    return isinstance(value, list) and bool(value) and all(map(is_valid, value))


_SETTINGS = {
    "problems": _Setting("problem", "a list of problems", _is_list),
    "samplers": _Setting(
        "sampler",
        "a list of texts, as behind -s",
        lambda v: _is_list(v, lambda each: isinstance(each, str)),
    ),
    "budgets": _Setting(
        "budget",
        "a list of numbers from 1",
        lambda v: _is_list(v, _is_whole),
    ),
    "seeds": _Setting("seeds", "a number from 1", _is_whole),
    "first_seed": _Setting("first_seed", "a number from 0", lambda v: _is_whole(v, 0)),
    "seeds_of": _Setting(
        "seeds_of",
        "a table of numbers by the labels of samplers",
        lambda v: isinstance(v, dict) and all(map(_is_whole, v.values())),
    ),
    "by_trials": _Setting("by_trials", "true or false", lambda v: isinstance(v, bool)),
    "in_flight": _Setting("in_flight", "a number from 1", _is_whole),
    "workers": _Setting("workers", "a number from 1", _is_whole),
    "durations": _Setting("durations", f"one of {list(CLOCKS)}", lambda v: v in CLOCKS),
    "top": _Setting("top", "a number from 1", _is_whole),
    "n_jobs": _Setting("n_jobs", "a number from 1", _is_whole),
    "engine": _Setting("engine", '"joblib" or "dask"', lambda v: v in ("joblib", "dask")),
    "scheduler": _Setting("scheduler", "an address", lambda v: isinstance(v, str)),
    "against_published": _Setting(
        "against_published", "true or false", lambda v: isinstance(v, bool)
    ),
    "output": _Setting("output", "a folder", lambda v: isinstance(v, str)),
}


def is_experiment(text: str) -> bool:
    """Whether a text names a file of this form."""
    return Path(text).suffix.lower() == ".toml"


def read(path: Path) -> dict[str, Any]:
    """Read the settings of a file.

    Raises:
        ValueError: If it cannot be read, or says what ``compare`` does not know. The message names
            the line.
    """
    try:
        text = path.read_text(encoding="utf-8")
        content = tomllib.loads(text)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is no TOML: {error}.") from error
    lines = _Lines(path, text)
    for name, value in content.items():
        if name not in _SETTINGS:
            raise lines.error(name, f"it must be one of {list(_SETTINGS)}")
        if not _SETTINGS[name].is_valid(value):
            raise lines.error(name, f"it must be {_SETTINGS[name].expected}, but is {value!r}")
    if "problems" not in content:
        raise ValueError(f"{path} must name its problems: problems = [...].")
    folder = path.resolve().parent
    if str(folder) not in sys.path:  # Modules of problems and samplers lie beside it.
        sys.path.append(str(folder))
    content["problems"] = [_problem(each, folder, lines) for each in content["problems"]]
    for sampler in content.get("samplers", []):
        lines.check(sampler, make_spec)
    if "seeds_of" in content:
        content["seeds_of"] = [f"{label}={n}" for label, n in content["seeds_of"].items()]
    if "output" in content:
        content["output"] = str(folder / content["output"])
    return {_SETTINGS[name].parameter: value for name, value in content.items()}


def write(settings: Mapping[str, Any]) -> str:
    """Text of a file that has these settings, apart from those that are ``None``.

    Args:
        settings: By the names of a file; ``problems`` are texts that any process can resolve.
    """
    lines = [
        f"{name} = {_toml(_problem_tables(value) if name == 'problems' else value)}"
        for name, value in settings.items()
        if value is not None
    ]
    return "\n".join([*lines, ""])


class _Lines:
    """Lines of a file, for messages.

    Args:
        path: The file.
        text: Its content.
    """

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._lines = text.splitlines()

    def error(self, word: str, message: str) -> ValueError:
        """Error about the first line that has a word."""
        bare = str(word).split("(")[0]
        found = [n for n, line in enumerate(self._lines, 1) if word in line] or [
            n for n, line in enumerate(self._lines, 1) if bare in line
        ]
        where = f", line {found[0]}" if found else ""
        return ValueError(f"{self._path.name}{where}, {word}: {message.rstrip('.')}.")

    def check(self, word: str, function: Callable[[str], Any]) -> Any:
        """Result of a function of a word, whose error names the line."""
        try:
            return function(word)
        except ValueError as error:
            raise self.error(word, str(error)) from error


def _problem(written: Any, folder: Path, lines: _Lines) -> str:
    """Text of a problem of a file that any process can resolve."""
    if isinstance(written, str):
        target, options = decompose(written, OPTIONS) if is_own(written) else (written, {})
    elif isinstance(written, dict) and sum(name in written for name in _TARGETS) == 1:
        target = str(next(written[name] for name in _TARGETS if name in written))
        unknown = [name for name in written if name not in (*_TARGETS, *OPTIONS)]
        if unknown:
            raise lines.error(unknown[0], f"an option of a problem must be one of {list(OPTIONS)}")
        options = {
            name: [str(each) for each in (value if isinstance(value, list) else [value])]
            for name, value in written.items()
            if name in OPTIONS
        }
    else:
        raise lines.error("problems", f"a problem must be a text or a table, but is {written!r}")
    if not is_own(target):
        lines.check(target, lambda text: select([text]))
        return target
    if is_file(target):
        path = str(folder / Path(target).expanduser())
    else:
        path = target
        package = target.partition(":")[0].partition(".")[0]
        if any((folder / name).exists() for name in (package, f"{package}.py")):
            options = {"folder": [str(folder)], **{k: v for k, v in options.items() if v}}

    def resolved(_: str) -> str:
        text = with_options(compose(path, options), {})
        select([text])
        return text

    text: str = lines.check(target, resolved)
    return text


def _problem_tables(texts: Sequence[str]) -> list[Any]:
    """Problems as a file has them: texts, and tables for those of the user's own."""
    tables: list[Any] = []
    for text in texts:
        if not is_own(text):
            tables.append(text)
            continue
        target, options = decompose(text, OPTIONS)
        given: dict[str, Any] = {name: values for name, values in options.items() if values}
        given |= {name: float(given[name][0]) for name in _NUMBERS if name in given}
        tables.append({"file" if is_file(target) else "object": target, **given})
    return tables


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(name)} = {_toml(v)}" for name, v in value.items()) + " }"
    if isinstance(value, list | tuple):
        items = [_toml(each) for each in value]
        inline = f"[{', '.join(items)}]"
        return inline if len(inline) <= 80 else "[\n" + "".join(f"  {i},\n" for i in items) + "]"
    return json.dumps(value, ensure_ascii=False)  # Of TOML's strings, too.


def _key(name: str) -> str:
    is_bare = all(each.isascii() and (each.isalnum() or each in "_-") for each in name)
    return name if is_bare else json.dumps(name, ensure_ascii=False)
