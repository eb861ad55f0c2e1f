"""Mutations of a configuration, and replacements for those that do not exist.

Notations:
    mutant: changed copy of a parent, which need not be in the pool.
    child: the mutant or its replacement, which is.
"""

from __future__ import annotations

import numpy as np

from harness.samplers.space import Configuration
from harness.samplers.space import Space
from harness.samplers.space import replaced


def one_changed(space: Space, parent: Configuration, rng: np.random.Generator) -> Configuration:
    """Set one uniformly chosen parameter to another of its choices."""
    return _changed(space, parent, int(rng.integers(len(parent))), rng)


def each_changed(
    space: Space, parent: Configuration, probability: float, rng: np.random.Generator
) -> Configuration:
    """Set each parameter, with a probability, to another of its choices."""
    mutant = parent
    for position in np.flatnonzero(rng.random(len(parent)) < probability).tolist():
        mutant = _changed(space, mutant, position, rng)
    return mutant


def existing(
    space: Space,
    mutant: Configuration,
    parent: Configuration,
    n_nearest: int,
    rng: np.random.Generator,
) -> Configuration:
    """Replace a mutant that does not exist by one of the nearest that do (paper, Section 4.2).

    The parent is excluded: it is next to its mutant and would nearly always be the result.

    Args:
        space: The space.
        mutant: A combination of choices.
        parent: The configuration that it comes from.
        n_nearest: Number of nearest configurations to draw from uniformly.
        rng: Generator of the draw.

    Returns:
        The mutant if it exists, else its replacement.
    """
    if mutant in space:
        return mutant
    nearest = space.projection.nearest(mutant, n_nearest, [space.row(parent)], rng)
    return space.rows[int(rng.choice(nearest))] if len(nearest) else parent


def _changed(
    space: Space, parent: Configuration, position: int, rng: np.random.Generator
) -> Configuration:
    size = space.sizes[position]
    if size == 1:
        return parent
    # Draw among the other choices: codes from the present one on move up by one.
    code = int(rng.integers(size - 1))
    return replaced(parent, position, code + (code >= parent[position]))
