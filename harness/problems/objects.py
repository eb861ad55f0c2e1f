"""A user's own object as a problem: ``my_module:Sphere(dimension=3)``.

It is one of

- an object with the interface of ``optunahub.benchmarks.BaseProblem``, or a class of such objects:
  ``directions``, and either ``search_space`` with ``evaluate(params)`` or ``__call__(trial)``;
  perhaps ``evaluate_constraints(params)``, ``metric_names`` and ``optimum``; ``reseed(seed)`` is
  called with the seed of each study;
- a plain function of a trial that returns the value, or a value for each direction.

Options of its text:

- ``direction``: ``maximize`` or ``minimize`` for each objective of a plain function.
- ``optimum``: the best value there is, if it is known.
- ``folder``: folder of the module's file, where the command was run in it.

A module of the working directory is found by workers, too: the text names its folder. A benchmark
of OptunaHub's registry is ``optunahub.benchmarks.bbob:Problem(function_id=1, dimension=2)``, once
OptunaHub has downloaded it (:mod:`harness.hub`).
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from functools import partial
from functools import update_wrapper
import hashlib
from importlib import import_module
import math
from pathlib import Path
import re
import sys
import time
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution
from optuna.study import StudyDirection

from harness import hub
from harness import syntax
from harness.fingerprint import fingerprint
from harness.problems.evaluation import Measurement
from harness.problems.evaluation import NumberedEvaluations
from harness.problems.evaluation import suggest
from harness.problems.options import compose
from harness.problems.options import decompose
from harness.problems.options import directions_of
from harness.problems.untabled import Params
from harness.problems.untabled import UntabledProblem


OPTIONS = ("direction", "optimum", "folder")

_FORM = re.compile(r"\w+(\.\w+)*:\w+(\(.*\))?", re.DOTALL)


def is_object(target: str) -> bool:
    """Whether a target has the form ``module:Object`` or ``module:Object(name=value)``."""
    return _FORM.fullmatch(target.strip()) is not None


def resolved(text: str) -> str:
    """Text with the folder of a module of the working directory."""
    target, options = decompose(text, OPTIONS)
    package = target.partition(":")[0].partition(".")[0]
    here = Path.cwd()
    if not options["folder"] and any(
        (here / name).exists() for name in (package, f"{package}.py")
    ):
        options["folder"] = [str(here)]
    if options["optimum"]:  # One number has one text.
        options["optimum"] = [str(_number(target, options["optimum"][0]))]
    return compose(target, options)


def short_name(text: str) -> str:
    """Short name for tables: the object without its options."""
    return decompose(text, OPTIONS)[0]


@lru_cache
def load(text: str) -> ObjectProblem:
    """Load the problem of a text; a second call gives the same object.

    Raises:
        ValueError: If there is no such module or object, or it is no problem.
    """
    target, options = decompose(text, OPTIONS)
    parsed = syntax.parse(target)
    found = _object(parsed.target, parsed.arguments, options["folder"])
    written = options["direction"]
    if hasattr(found, "directions"):
        directions = [_direction(each) for each in found.directions]
        if written and directions_of(written, ["value"] * len(directions)) != directions:
            raise ValueError(
                f"{target} has the directions {[each.name.lower() for each in directions]} of its "
                f"own, but got {written}."
            )
    elif not written:
        raise ValueError(
            f"The direction of the function {target} must be named (--direction minimize or "
            "maximize, one for each value that it returns)."
        )
    else:
        directions = directions_of(written, written)
    names = getattr(found, "metric_names", None) or _names(len(directions))
    code = f"{fingerprint(parsed.target.partition(':')[0])} {parsed.target} {parsed.arguments}"
    code += f" {[each.name for each in directions]}"
    return ObjectProblem(
        text=text,
        objectives=tuple(map(str, names)),
        directions=directions,
        fingerprint=hashlib.sha256(code.encode()).hexdigest()[:16],
        known_optimum=_optimum(target, options["optimum"], found, len(directions)),
        limited=_has_constraints(found),
        objective=found,
        space=_space(found),
    )


@dataclass(frozen=True, eq=False)
class ObjectProblem(UntabledProblem):
    """A user's own object as a problem.

    Attributes:
        objective: The object: it has ``evaluate(params)`` where there is a space, else it is
            called with a trial.
        space: Distribution of each parameter, ``None`` where the object asks a trial for them.
    """

    objective: Any = None
    space: Mapping[str, BaseDistribution] | None = None

    def suggest(self, trial: optuna.trial.BaseTrial) -> dict[str, Any]:
        """Let the study's sampler choose a configuration.

        An object without a space asks for its parameters on the way to its value, which then
        comes along with them.
        """
        if self.space is not None:
            return {name: suggest(trial, name, each) for name, each in self.space.items()}
        recorded = _RecordedTrial(trial)
        start = time.process_time()
        pruned = False
        try:
            values = self._values(self.objective(recorded))
        except optuna.TrialPruned:
            values, pruned = (math.nan,) * len(self.directions), True
        seconds = time.process_time() - start - recorded.seconds
        return _Evaluated(trial.params, Measurement(values, recorded.constraints, pruned, seconds))

    def begin(self, seed: int) -> NumberedEvaluations:
        """Begin a study; an object with noise of its own draws it from the seed of the study."""
        reseed = getattr(self.objective, "reseed", None)
        if callable(reseed):
            reseed(seed)
        return NumberedEvaluations(self._evaluate)

    def _evaluate(self, params: Params) -> Measurement:
        if isinstance(params, _Evaluated):
            return params.measurement
        limits = self.objective.evaluate_constraints(_Params(params)) if self.limited else {}
        if not isinstance(limits, Mapping):  # OptunaHub before 0.5 has a sequence.
            limits = {str(index): value for index, value in enumerate(limits)}
        return Measurement(
            self._values(self.objective.evaluate(dict(params))),
            {str(name): float(value) for name, value in limits.items()},
        )

    def _values(self, returned: Any) -> tuple[float, ...]:
        values = returned if isinstance(returned, Sequence | np.ndarray) else [returned]
        if len(values) != len(self.directions) or any(value is None for value in values):
            raise ValueError(
                f"{short_name(self.text)} must return {len(self.directions)} value(s), one for "
                f"each direction, but returned {returned!r}."
            )
        return tuple(map(float, values))


class _Params(dict[str, Any]):
    """Parameters, for constraints that ask a finished trial for them too.

    OptunaHub's interface hands parameters, but Optuna hands a trial to ``constraints_func``, and
    some benchmarks of the registry are written for that.
    """

    @property
    def params(self) -> dict[str, Any]:
        """The parameters, where a trial has them."""
        return dict(self)


class _Evaluated(dict[str, Any]):
    """Parameters with the measurement that came along with them."""

    def __init__(self, params: Params, measurement: Measurement) -> None:
        super().__init__(params)
        self.measurement = measurement


class _RecordedTrial:
    """A trial that notes constraints, and the CPU seconds of its sampler.

    Args:
        trial: The trial, which does all else.
    """

    def __init__(self, trial: optuna.trial.BaseTrial) -> None:
        self._trial = trial
        self.constraints: dict[str, float] = {}
        self.seconds = 0.0

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._trial, name)
        return partial(self._timed, attribute) if "suggest" in name else attribute

    def set_constraint(self, key: str, value: float) -> None:
        """Note a constraint; the runner sets it on the trial."""
        self.constraints[str(key)] = float(value)

    def _timed(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        start = time.process_time()
        try:
            return function(*args, **kwargs)
        finally:
            self.seconds += time.process_time() - start


def _object(target: str, arguments: Mapping[str, Any], folders: Sequence[str]) -> Any:
    """Object of a module, made with its arguments if it is a class."""
    module_name, _, name = target.partition(":")
    for folder in folders:
        if folder not in sys.path:
            sys.path.append(folder)
    try:
        module = (hub.load if hub.is_package(module_name) else import_module)(module_name)
        found = getattr(module, name)
    except AttributeError:
        raise ValueError(f"The module {module_name!r} has no object {name!r}.") from None
    except (Exception, SystemExit) as error:  # A user's file may do anything when it is imported.
        raise ValueError(
            f"The module {module_name!r} cannot be imported: {type(error).__name__}: {error}."
        ) from error
    try:
        if isinstance(found, type):
            found = found(**arguments)
        elif arguments:
            found = update_wrapper(partial(found, **arguments), found)
    except Exception as error:
        raise ValueError(
            f"{target} cannot be made with {dict(arguments)}: {type(error).__name__}: {error}"
        ) from error
    if not callable(found) and not hasattr(found, "evaluate"):
        raise ValueError(
            f"{target} must be a function of a trial, or have the interface of "
            f"optunahub.benchmarks.BaseProblem, but is {found!r}."
        )
    return found


def _direction(written: StudyDirection | str) -> StudyDirection:
    return StudyDirection[written.upper()] if isinstance(written, str) else written


def _names(n_objectives: int) -> list[str]:
    return ["value"] if n_objectives == 1 else [f"value {n + 1}" for n in range(n_objectives)]


def _optimum(target: str, written: Sequence[str], found: Any, n_objectives: int) -> float | None:
    value = written[0] if written else getattr(found, "optimum", None)
    return None if value is None or n_objectives > 1 else _number(target, value)


def _number(target: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"The optimum of {target} must be a number, but got {value!r}.") from None


def _has_constraints(found: Any) -> bool:
    """Whether an object evaluates constraints, other than the empty ones of OptunaHub's base."""
    method = getattr(type(found), "evaluate_constraints", None)
    return method is not None and not method.__module__.startswith("optunahub.")


def _space(found: Any) -> Mapping[str, BaseDistribution] | None:
    """Search space of an object that has one; some branch, and say so."""
    try:
        return dict(found.search_space) if hasattr(found, "evaluate") else None
    except (AttributeError, NotImplementedError):
        return None
