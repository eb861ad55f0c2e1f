"""Limits on the threads of numerical libraries."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_thread(api: str | None = None) -> AbstractContextManager[Any]:
    """Limit native libraries to one thread, for ``api="blas"`` only those of linear algebra.

    Sums over threads differ in the last bit from machine to machine, and threads that wait for
    each other over small matrices make a busy machine a hundred times slower.
    """
    # A library is limited only if it was loaded before its controller was made.
    controller = _controller_of_algebra() if api == "blas" else ThreadpoolController()
    limits: AbstractContextManager[Any] = controller.limit(limits=1, user_api=api)
    return limits


@cache
def _controller_of_algebra() -> ThreadpoolController:
    """Controller that knows the BLAS of NumPy and SciPy, made once: it inspects all libraries."""
    import scipy.linalg  # noqa: F401  # loads its own BLAS

    return ThreadpoolController()
