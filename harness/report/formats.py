"""Numbers as a reader wants them, the same in the terminal and on the page."""

from __future__ import annotations

import math


NOTHING = "–"
_SMALLEST_P = 1e-24
_MINUS = "−"


def number(value: float, digits: int = 1) -> str:
    """Fixed number of digits, a dash for NaN."""
    if not math.isfinite(value):
        return NOTHING if math.isnan(value) else f"{_MINUS * (value < 0)}∞"
    return f"{value:z.{digits}f}".replace("-", _MINUS)


def significant(value: float, digits: int = 2) -> str:
    """Significant digits without exponents, for quantities that span magnitudes.

    Example:
        >>> significant(0.0123), significant(1.234), significant(345.6), significant(-math.inf)
        ('0.012', '1.2', '346', '−∞')
    """
    if not math.isfinite(value) or value == 0.0:
        return number(value, 0)
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    return number(value, max(decimals, 0))


_DURATIONS = {
    "measured": "measured or log-normal times",
    "lognormal": "log-normal times",
    "equal": "equal times",
}


def in_flight(n_trials: int, durations: str = "") -> str:
    """Number of trials in flight, to follow a budget; nothing for one. With a clock, the workers.

    Example:
        >>> f"200 evaluations{in_flight(4)}", f"200 evaluations{in_flight(1)}"
        ('200 evaluations, 4 in flight', '200 evaluations')
        >>> f"200 evaluations{in_flight(8, 'measured')}"
        '200 evaluations, 8 workers, measured or log-normal times'
    """
    if durations:
        workers = "1 worker" if n_trials == 1 else f"{n_trials} workers"
        return f", {workers}, {_DURATIONS[durations]}"
    return f", {n_trials} in flight" if n_trials > 1 else ""


def unit_of_time(seconds: float) -> tuple[str, float]:
    """Unit in which a reader wants a time, and its seconds.

    Example:
        >>> unit_of_time(90.0), unit_of_time(7200.0), unit_of_time(3.0)
        (('min', 60.0), ('h', 3600.0), ('s', 1.0))
    """
    units = (("h", 3600.0), ("min", 60.0))
    return next((unit for unit in units if seconds >= unit[1]), ("s", 1.0))


def duration(seconds: float) -> str:
    """Time in two significant digits with its unit.

    Example:
        >>> duration(8.44), duration(754.0), duration(5400.0)
        ('8.4 s', '13 min', '1.5 h')
    """
    name, size = unit_of_time(seconds)
    return f"{significant(seconds / size)} {name}"


def signed(value: float, digits: int = 1) -> str:
    """Fixed number of digits with a sign, which zero has not.

    Example:
        >>> signed(0.04), signed(0.06), signed(-3e-8, 3)
        ('0.0', '+0.1', '0.000')
    """
    text = number(value, digits)
    return f"+{text}" if value > 0 and text != number(0.0, digits) else text


def spread(mean: float, std: float, digits: int = 1) -> str:
    """Mean ± standard deviation; the mean alone where there is only one study."""
    text = number(mean, digits)
    return text if math.isnan(std) else f"{text} ± {number(std, digits)}"


def loss(value: float) -> str:
    """Loss in two significant digits, with a bound below which it is nil for a reader."""
    return "< 0.0001" if 0.0 < value < 1e-4 else significant(value)


def quantity(value: float, digits: int | None) -> str:
    """A number with its decimals, or as a :func:`loss` where they are ``None``."""
    return loss(value) if digits is None else number(value, digits)


def setting(budget: int, unit: str, n_in_flight: int, durations: str = "") -> str:
    """Budget and trials in flight, or workers.

    Example:
        >>> setting(200, "evaluations", 1), setting(100, "trials", 4)
        ('200 evaluations', '100 trials, 4 in flight')
    """
    return f"{budget} {unit}{in_flight(n_in_flight, durations)}"


def p_value(p: float) -> str:
    """A p-value with three decimals, or a power of ten, or a bound.

    Example:
        >>> p_value(0.25), p_value(3e-8), p_value(1e-60)
        ('0.250', '3e-08', '< 1e-24')
    """
    if math.isnan(p):
        return NOTHING
    if p < _SMALLEST_P:
        return "< 1e-24"
    return f"{p:.0e}" if p < 1e-3 else f"{p:.3f}"


def p_statement(p: float) -> str:
    """``p = 0.250`` or ``p < 1e-24``."""
    text = p_value(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def stars(p: float) -> str:
    """Three stars below 0.001, two below 0.01, one below 0.05."""
    return "*" * sum(p < bound for bound in (0.05, 0.01, 0.001))
