from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any

import pytest


torch = pytest.importorskip("torch", reason="needs PyTorch: pip install 'optuna-zaps[zerocost]'")

from torch import nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402

from harness.problems.networks.nasbench201 import NASBench201Network  # noqa: E402
from optuna_zaps.zerocost import score  # noqa: E402


pytestmark = pytest.mark.benchmark

# As many convolutions as a cell has on average, 1.2 of each kind, rounded up.
CELL = "nor_conv_3x3 skip_connect avg_pool_3x3 nor_conv_1x1 nor_conv_1x1 nor_conv_3x3".split()


def passes_by_hand(model: nn.Module, inputs: Any, targets: Any) -> None:
    """The distinct passes of all 13 proxies, without anything that reads or shares them."""
    weights = [parameter for parameter in model.parameters() if parameter.dim() > 1]
    inputs = inputs.clone().requires_grad_()
    logits = model(inputs)
    torch.autograd.grad(logits.sum(), inputs, retain_graph=True)
    gradients = torch.autograd.grad(F.cross_entropy(logits, targets), weights, create_graph=True)
    product = sum((gradient * gradient.detach()).sum() for gradient in gradients)
    torch.autograd.grad(product, weights)
    with torch.no_grad():
        for _ in range(2):
            model(torch.randn_like(inputs))
    model.double()
    torch.autograd.grad(model(torch.ones_like(inputs[:1]).double()).sum(), weights)
    model.float()


def cpu_seconds(call: Callable[[], Any]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def test_all_proxies_of_a_full_size_network_cost_little_more_than_their_passes() -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # CPU seconds of one thread do not count waiting for a busy core
    batch = torch.randn(64, 3, 32, 32), torch.arange(64) % 10
    score(NASBench201Network(CELL, 10, n_cells=1), batch)
    pairs = [
        (
            cpu_seconds(lambda: score(NASBench201Network(CELL, 10), batch)),
            cpu_seconds(lambda: passes_by_hand(NASBench201Network(CELL, 10), *batch)),
        )
        for _ in range(5)
    ]
    torch.set_num_threads(threads)
    scored, by_hand = (min(times) for times in zip(*pairs, strict=True))
    print(f"\n13 proxies {scored:.2f} s, their passes {by_hand:.2f} s")
    assert scored <= 2 * 8  # 8 seconds on two cores
    assert scored <= 1.3 * by_hand
