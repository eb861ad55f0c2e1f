"""Zero-cost proxies: 13 scores of an untrained torch network from one batch.

Needs the extra ``optuna-zaps[zerocost]``. :func:`score` scores one network, :func:`score_space`
a whole space and returns the table that :class:`~optuna_zaps.ZAPSSampler` takes as ``proxies``.
Each proxy is also a function of its own; functions that are given the same :class:`Passes` share
its forward and backward passes.

Example:
    >>> import torch
    >>> from optuna_zaps.zerocost import Passes, params, score
    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    >>> batch = torch.randn(6, 4), torch.tensor([0, 1, 2, 0, 1, 2])
    >>> sorted(score(model, batch, proxies=["params", "flops"]).items())
    [('flops', 64.0), ('params', 67.0)]
    >>> params(Passes(model, batch))
    67.0
"""

from __future__ import annotations


try:
    import joblib  # noqa: F401
    import pandas  # noqa: F401
    import torch  # noqa: F401
except ImportError as error:
    raise ImportError(
        "optuna_zaps.zerocost needs PyTorch, pandas and joblib: "
        'pip install "optuna-zaps[zerocost]".'
    ) from error

from optuna_zaps.zerocost._passes import Passes
from optuna_zaps.zerocost._passes import Uncomputable
from optuna_zaps.zerocost._score import ALL
from optuna_zaps.zerocost._score import score
from optuna_zaps.zerocost._space import score_space
from optuna_zaps.zerocost.activations import nwot
from optuna_zaps.zerocost.activations import zen
from optuna_zaps.zerocost.capacity import flops
from optuna_zaps.zerocost.capacity import l2_norm
from optuna_zaps.zerocost.capacity import params
from optuna_zaps.zerocost.jacobian import epe_nas
from optuna_zaps.zerocost.jacobian import jacov
from optuna_zaps.zerocost.saliency import fisher
from optuna_zaps.zerocost.saliency import grad_norm
from optuna_zaps.zerocost.saliency import grasp
from optuna_zaps.zerocost.saliency import plain
from optuna_zaps.zerocost.saliency import snip
from optuna_zaps.zerocost.saliency import synflow


__all__ = [
    "ALL",
    "Passes",
    "Uncomputable",
    "epe_nas",
    "fisher",
    "flops",
    "grad_norm",
    "grasp",
    "jacov",
    "l2_norm",
    "nwot",
    "params",
    "plain",
    "score",
    "score_space",
    "snip",
    "synflow",
    "zen",
]
