"""A proxy function that is called once for each configuration, even where it fails."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from collections.abc import Hashable
from collections.abc import Mapping
from itertools import islice
import traceback
from typing import Any
from typing import NoReturn
from typing import TypeAlias

from optuna_zaps.search.candidates import MAX_CANDIDATES
from optuna_zaps.search.choices import choice_key
from optuna_zaps.search.values import real_number


ProxyFunction: TypeAlias = Callable[[dict[str, Any]], Mapping[str, float]]

_Row: TypeAlias = "tuple[tuple[str, ...], array[float]]"
"""Names and values; the tuple of names is shared by all rows."""

_MAX_ROWS = MAX_CANDIDATES
"""Most configurations that are remembered: those of the largest space that is enumerated."""

_MAX_PICKLED = 2**12
"""Most configurations in a pickle: those of the latest pools, which are asked for again."""


class RememberedProxies:
    """A proxy function and its result for each configuration.

    A configuration for which the function raises an exception, or returns anything but a mapping
    from names to real numbers, has no proxies. It is not tried again.

    Args:
        function: From parameters to proxies.
    """

    def __init__(self, function: ProxyFunction) -> None:
        self._function = function
        self._rows: dict[Hashable, _Row | None] = {}
        self._shared: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._first_error: Exception | None = None
        self._reason = ""
        self._has_remarked = False

    def __getstate__(self) -> dict[str, Any]:
        """Return the function, its latest results and whether it has failed."""
        latest = list(islice(reversed(self._rows.items()), _MAX_PICKLED))
        # The first error is left out: not every exception can be pickled.
        return {
            "function": self._function,
            "rows": dict(reversed(latest)),
            "reason": self._reason,
            "has_remarked": self._has_remarked,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        RememberedProxies.__init__(self, state["function"])
        self._rows, self._reason = state["rows"], state["reason"]
        self._has_remarked = state["has_remarked"]

    def of(self, params: dict[str, Any]) -> Mapping[str, float] | None:
        """Proxies of a configuration, ``None`` if the function failed for it."""
        names = tuple(sorted(params))
        key = self._shared_copy(names), tuple(choice_key(params[name]) for name in names)
        row = self._rows.pop(key) if key in self._rows else self._evaluated(params)
        # At the end, so that the least recently asked for are at the beginning.
        self._rows[key] = row
        if len(self._rows) > _MAX_ROWS:
            del self._rows[next(iter(self._rows))]
        return None if row is None else dict(zip(*row, strict=True))

    def refuse_failure(self) -> NoReturn:
        """Refuse a function that failed for every configuration.

        Raises:
            ValueError: Always, from the first exception.
        """
        raise ValueError(
            f"The proxy function failed for every configuration; {self._reason}"
        ) from self._first_error

    def remark(self, n_failed: int, n_configurations: int) -> str | None:
        """Say once that the function failed for some configurations.

        Args:
            n_failed: Number of those for which it failed.
            n_configurations: Number of those asked for.

        Returns:
            ``None`` if there is nothing to say, or if it was said before.
        """
        if n_failed == 0 or self._has_remarked:
            return None
        # Its traceback holds all the frames that led to the call.
        self._has_remarked, self._first_error = True, None
        return (
            f"{n_failed} of {n_configurations} configurations have none and are ranked in the "
            f"middle, because the proxy function failed, {self._reason}"
        )

    def _evaluated(self, params: dict[str, Any]) -> _Row | None:
        shown = str(params)
        try:
            row = self._function(params)
            if not isinstance(row, Mapping):
                raise TypeError(
                    f"The proxy function must return a mapping {{name: number}}, but got {row!r}."
                )
            values = {str(name): _checked(name, value) for name, value in row.items()}
            if len(values) < len(row):
                raise ValueError(f"Each proxy must have a name of its own, but got {list(row)}.")
        except Exception as error:
            if not self._reason:
                # The variables of its frames may hold a network, and the memory of a GPU.
                traceback.clear_frames(error.__traceback__)
                self._first_error = error
                self._reason = f"for {shown}: {type(error).__name__}: {error}"
            return None
        return self._shared_copy(tuple(values)), array("d", values.values())

    def _shared_copy(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return self._shared.setdefault(names, names)


def _checked(name: Any, value: Any) -> float:
    number = real_number(value)
    if number is None:
        raise TypeError(f"The proxy {name!r} must be a real number, but is {value!r}.")
    return number
