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
    limits: AbstractContextManager[Any] = _controller().limit(limits=1, user_api=api)
    return limits


@cache
def _controller() -> ThreadpoolController:
    """Controller of the loaded libraries, made once since it inspects all of them."""
    return ThreadpoolController()
