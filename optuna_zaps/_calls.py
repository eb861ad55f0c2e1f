"""Text of the call that made an object."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
import inspect
from itertools import islice
import reprlib
from typing import Any


def shown_call(name: str, function: Callable[..., Any], arguments: Mapping[str, Any]) -> str:
    """Write a call as source code, with tables, functions and long values abbreviated.

    Args:
        name: Name to call it by.
        function: The function, or the ``__init__`` of a class.
        arguments: Value of each of its parameters, by name, and perhaps others. One that is the
            default is left out.

    Example:
        >>> def area(width, height=1, unit="m"): ...
        >>> shown_call("area", area, {"width": range(3), "height": 1, "unit": "km"})
        "area(width=range(0, 3), unit='km')"
    """
    given = [
        f"{parameter.name}={_ABBREVIATED.repr(arguments[parameter.name])}"
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name != "self" and arguments[parameter.name] is not parameter.default
    ]
    return f"{name}({', '.join(given)})"


class _Abbreviated(reprlib.Repr):
    """Representations that say little of what is large, and no address."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        self.maxdict = self.maxlist = self.maxtuple = 8
        self.maxstring = self.maxother = 80

    def repr_dict(self, x: dict[Any, Any], level: int) -> str:
        """Represent a dictionary in its own order; reprlib would sort it."""
        if level <= 0:
            return "{...}"
        shown = [
            f"{self.repr1(key, level - 1)}: {self.repr1(value, level - 1)}"
            for key, value in islice(x.items(), self.maxdict)
        ]
        return f"{{{', '.join(shown + ['...'] * (len(x) > self.maxdict))}}}"

    def repr_instance(self, x: Any, level: int) -> str:
        """Represent an object of a type without rules of its own."""
        kind = type(x).__name__
        if hasattr(x, "shape"):
            if x.shape == ():
                return repr(x.item())
            return f"<{kind} of {' x '.join(map(str, x.shape))}>"
        if inspect.isroutine(x):
            return f"<function {x.__name__}>"
        shown = super().repr_instance(x, level)
        if " at 0x" in shown:
            return f"<{kind}>"
        return f"{kind}(...)" if "..." in shown and shown.startswith(kind) else shown


_ABBREVIATED = _Abbreviated()
