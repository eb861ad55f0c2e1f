from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
import math
import subprocess
import sys
from typing import Any
import warnings

import numpy as np
import pytest


torch = pytest.importorskip("torch", reason="needs PyTorch: pip install 'optuna-zaps[zerocost]'")

from torch import Tensor  # noqa: E402
from torch import nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from warned import only  # noqa: E402

from optuna_zaps import zerocost  # noqa: E402
from optuna_zaps.zerocost import ALL  # noqa: E402
from optuna_zaps.zerocost import Passes  # noqa: E402
from optuna_zaps.zerocost import score  # noqa: E402


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def half_square(logits: Tensor, targets: Tensor) -> Tensor:
    return 0.5 * logits.square().sum()


def linear_net(*weights: Any) -> nn.Sequential:
    layers = []
    for weight in weights:
        matrix = torch.tensor(weight, dtype=torch.float32)
        layer = nn.Linear(matrix.shape[1], matrix.shape[0], bias=False)
        layer.weight.data = matrix
        layers.append(layer)
    return nn.Sequential(*layers)


def images(n_samples: int = 6, size: int = 8) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    inputs = torch.randn(n_samples, 3, size, size, generator=generator)
    return inputs, torch.arange(n_samples) % 2


class Branching(nn.Module):
    """Residual, grouped, in place, batch norm, dropout, and a module that is used twice."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(inplace=True))
        self.twice = nn.Conv2d(8, 8, 3, padding=1, groups=4, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.drop = nn.Dropout(0.5)
        self.head = nn.Linear(8, 2)

    def forward(self, inputs: Tensor) -> Tensor:
        stem = self.stem(inputs)
        once = F.relu(self.norm(self.twice(stem)), inplace=True)
        mixed = torch.cat([self.twice(once)[:, :4] + stem[:, 4:], once[:, 4:]], dim=1)
        pooled = F.max_pool2d(mixed, 2).mean(dim=(2, 3))
        return self.head(self.drop(pooled))


# y = b a x with a = -2, b = 3 and x = 1, 2; loss 1/2 sum y^2 = a^2 b^2 S / 2 with S = 5.
# The gradient is (a b^2 S, a^2 b S) = (-90, 60), the Hessian ((45, -60), (-60, 20)), so that
# H g = (-7650, 6600). Activation times gradient is y^2 = 36, 144 at both layers.
BY_HAND = {
    "params": 2,
    "flops": 2,
    "l2_norm": 2 + 3,
    "plain": 180 + 180,
    "snip": 180 + 180,
    "grad_norm": 90 + 60,
    "grasp": -(2 * 7650 + 3 * 6600),
    "fisher": 2 * (36**2 + 144**2) / 2 / 2,
    "synflow": math.log(6 + 6),
}


@pytest.mark.parametrize(("name", "expected"), BY_HAND.items())
def test_two_linear_layers_by_hand(name: str, expected: float) -> None:
    batch = torch.tensor([[1.0], [2.0]]), torch.tensor([0, 0])
    model = linear_net([[-2.0]], [[3.0]])
    assert score(model, batch, proxies=[name], loss=half_square)[name] == pytest.approx(expected)


def test_the_second_order_pass_is_the_same_with_and_without_sharing() -> None:
    batch = torch.tensor([[1.0], [2.0]]), torch.tensor([0, 0])
    passes = Passes(linear_net([[-2.0]], [[3.0]]), batch, loss=half_square)
    assert zerocost.grad_norm(passes) == pytest.approx(150)
    assert zerocost.grasp(passes) == pytest.approx(BY_HAND["grasp"])


def test_saliency_of_wide_layers_against_matrix_algebra() -> None:
    # loss 1/2 |X A' B'|^2: gradients B' B A X' X and B A X' X A' (independent of autograd).
    generator = np.random.default_rng(0)
    first, second, inputs = (generator.normal(size=shape) for shape in ((4, 3), (2, 4), (5, 3)))
    moment = inputs.T @ inputs
    gradients = second.T @ second @ first @ moment, second @ first @ moment @ first.T
    batch = torch.tensor(inputs, dtype=torch.float32), torch.zeros(5, dtype=torch.long)
    values = score(linear_net(first, second), batch, loss=half_square, proxies=BY_HAND)
    weights = first, second
    products = [w * g for w, g in zip(weights, gradients, strict=True)]
    assert values["snip"] == pytest.approx(sum(np.abs(p).sum() for p in products), rel=1e-4)
    norms = [np.linalg.norm(gradient) for gradient in gradients]
    assert values["grad_norm"] == pytest.approx(sum(norms), rel=1e-4)
    hidden = inputs @ first.T
    outputs = hidden @ second.T
    # A channel's gate moves the loss by activation times gradient; each weight of it counts.
    by_gate = (hidden * (outputs @ second), 3), (outputs * outputs, 4)
    fisher = sum(0.5 * (gate**2).mean(axis=0).sum() * size for gate, size in by_gate)
    assert values["fisher"] == pytest.approx(fisher, rel=1e-4)
    flow = np.abs(second).sum(axis=0) @ np.abs(first).sum(axis=1)
    assert values["synflow"] == pytest.approx(math.log(2 * flow), rel=1e-6)


def test_a_linear_network_has_one_jacobian() -> None:
    batch = torch.randn(4, 3, generator=torch.Generator().manual_seed(0)), torch.arange(4) % 2
    values = score(
        linear_net([[1.0, -2.0, 0.5], [0.0, 1.0, 3.0]]), batch, proxies=["jacov", "epe_nas"]
    )
    # All correlations are 1: the spectrum is 4, 0, 0, 0; each of two classes has 2 x 2 pairs.
    k = 1e-5
    expected = -(math.log(4 + k) + 1 / (4 + k) + 3 * (math.log(k) + 1 / k))
    assert values["jacov"] == pytest.approx(expected, rel=1e-6)
    assert values["epe_nas"] == pytest.approx(2 * 4 * math.log(1 + k), rel=1e-3)


@pytest.mark.parametrize("inplace", [False, True])
def test_activation_patterns_by_hand(inplace: bool) -> None:
    # Patterns 10, 01, 11 of two units: agreements ((2, 0, 1), (0, 2, 1), (1, 1, 2)), of
    # determinant 4.
    inputs = torch.tensor([[1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]])
    model = nn.Sequential(nn.Identity(), nn.ReLU(inplace=inplace), nn.Linear(2, 2))
    value = score(model, (inputs, torch.tensor([0, 1, 0])), proxies=["nwot"])["nwot"]
    assert value == pytest.approx(math.log(4))


def test_zen_of_a_linear_map_is_the_norm_of_the_step() -> None:
    class Features(nn.Module):
        """Features are the input itself, one value in each of 4 x 4 positions."""

        def forward(self, inputs: Tensor) -> Tensor:
            return (inputs * 1.0).mean(dim=(2, 3))

    # E|z| = sqrt(2 / pi) for each of the 16 Gaussian steps; there is no batch norm.
    value = score(Features(), (torch.zeros(4000, 1, 4, 4), torch.zeros(4000)), proxies=["zen"])
    assert value["zen"] == pytest.approx(math.log(16 * math.sqrt(2 / math.pi)), abs=0.01)


def test_zen_does_not_depend_on_the_scale_that_batch_norm_removes() -> None:
    # N(0, 1) inputs times N(0, 1) weights of fan-in 27: the scale is near sqrt(27) on average.
    model = nn.Sequential(
        nn.Conv2d(3, 400, 3, bias=False), nn.BatchNorm2d(400), nn.Flatten(), nn.Linear(14400, 2)
    )
    passes = Passes(model, images(32))
    (log_scale,), _, _ = passes.gaussian
    assert log_scale == pytest.approx(0.5 * math.log(27), abs=0.05)


def test_deep_networks_do_not_overflow() -> None:
    depth, width = 60, 50
    weight = np.full((width, width), 10.0)
    batch = torch.ones(2, width), torch.tensor([0, 1])
    value = score(linear_net(*[weight] * depth), batch, proxies=["synflow"])["synflow"]
    # One input of ones: every layer multiplies by 500, far beyond float32 after 60.
    assert value == pytest.approx(math.log(depth) + math.log(width) + depth * math.log(500))


def test_a_module_used_twice_has_one_gate() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = linear_net([[2.0]])[0]

        def forward(self, inputs: Tensor) -> Tensor:
            return self.layer(self.layer(inputs))

    # y = w^2 x, loss 1/2 sum y^2 = w^4 S / 2: gradient 2 w^3 S = 80, Hessian 6 w^2 S = 120.
    batch = torch.tensor([[1.0], [2.0]]), torch.tensor([0, 0])
    values = score(Twice(), batch, loss=half_square, proxies=["snip", "grasp", "fisher"])
    assert values["snip"] == pytest.approx(2 * 80)
    assert values["grasp"] == pytest.approx(-2 * 120 * 80)
    # The gate scales both uses: its gradient is 2 y^2 = 32, 128.
    assert values["fisher"] == pytest.approx(0.5 * (32**2 + 128**2) / 2)


def _state(model: nn.Module) -> tuple[Any, ...]:
    return (
        {name: value.clone() for name, value in model.state_dict().items()},
        [parameter.requires_grad for parameter in model.parameters()],
        [parameter.grad for parameter in model.parameters()],
        [module.training for module in model.modules()],
        [len(module._forward_hooks) for module in model.modules()],
    )


def _fail(logits: Tensor, targets: Tensor) -> Tensor:
    raise RuntimeError("no loss today")


@pytest.mark.filterwarnings("ignore:Proxies that cannot be computed")
@pytest.mark.parametrize("loss", [F.cross_entropy, _fail])
def test_the_model_is_left_as_it_was(loss: Callable[[Tensor, Tensor], Tensor]) -> None:
    model = Branching().eval()
    model.head.weight.requires_grad_(False)
    model.norm.train()
    before, random = _state(model), torch.get_rng_state()
    score(model, images(), loss=loss)
    after = _state(model)
    for name, value in before[0].items():
        assert torch.equal(value, after[0][name]), name
    assert before[1:] == after[1:]
    assert torch.equal(random, torch.get_rng_state())


def test_the_model_is_left_as_it_was_when_its_forward_fails() -> None:
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Linear(7, 2)).eval()
    before = _state(model)
    with pytest.raises(RuntimeError):
        score(model, images())
    assert before[1:] == _state(model)[1:]
    assert torch.equal(before[0]["1.running_mean"], model[1].running_mean)


def test_every_proxy_of_a_branching_network_is_a_number() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = score(Branching, images())
    assert tuple(values) == ALL
    assert all(map(math.isfinite, values.values()))


def test_in_place_or_not_is_the_same() -> None:
    def build(inplace: bool) -> nn.Module:
        return nn.Sequential(
            nn.Conv2d(3, 6, 3),
            nn.ReLU(inplace=inplace),
            nn.Conv2d(6, 6, 3),
            nn.BatchNorm2d(6),
            nn.ReLU(inplace=inplace),
            nn.Flatten(),
            nn.Linear(6 * 16, 2),
        )

    assert score(lambda: build(True), images()) == score(lambda: build(False), images())


def test_proxies_do_not_depend_on_which_others_are_asked_for() -> None:
    together = score(Branching, images(), seed=3)
    assert score(Branching, images(), seed=3) == together
    alone = {name: score(Branching, images(), proxies=[name], seed=3)[name] for name in ALL}
    # Gradients of first order take another route in autograd when those of second are kept.
    assert alone == pytest.approx(together, rel=1e-4)
    assert score(Branching, images(), seed=4)["snip"] != together["snip"]


def test_passes_are_shared() -> None:
    calls = []
    model = Branching()
    model.register_forward_hook(lambda *_: calls.append(1))
    # One for flops, nwot and all that is a gradient, one for synflow, two for zen.
    score(model, images())
    assert len(calls) == 4
    calls.clear()
    score(model, images(), proxies=["params", "l2_norm"])
    assert not calls


def test_a_graph_that_a_pass_freed_is_made_again() -> None:
    calls = []
    model = Branching()
    model.register_forward_hook(lambda *_: calls.append(1))
    passes = Passes(model, images(), second_order=True)
    zerocost.grasp(passes)
    zerocost.fisher(passes), zerocost.snip(passes), zerocost.nwot(passes)
    assert len(calls) == 1
    assert zerocost.jacov(passes) == score(model, images(), proxies=["jacov"])["jacov"]
    zerocost.epe_nas(passes)
    assert len(calls) == 1 + 1 + 1  # again for this one, and for the one beside it


def test_an_overwritten_output_is_read_as_it_was() -> None:
    class Halves(nn.Module):
        """Overwrites a view of a linear layer's output."""

        def __init__(self) -> None:
            super().__init__()
            self.layer = linear_net([[1.0], [-3.0]])[0]

        def forward(self, inputs: Tensor) -> Tensor:
            out = self.layer(inputs)
            out[:, 1:].mul_(10)
            return out

    # Outputs (x, -3 x), logits (x, -30 x), loss 1/2 sum of their squares: activation times
    # gradient is x^2 and 900 x^2 for x = 1, 2.
    batch = torch.tensor([[1.0], [2.0]]), torch.tensor([0, 0])
    value = score(Halves(), batch, loss=half_square, proxies=["fisher"])["fisher"]
    assert value == pytest.approx(0.5 * (1 + 900**2) * (1 + 4**2) / 2)


def test_flops_count_what_nasbench201_counts() -> None:
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1, groups=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.Conv2d(8, 8, 3, stride=2, padding=1, groups=4),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.Linear(8 * 4, 5),
    )
    expected = 8 * 64 * 27 + 2 * 8 * 64 + 8 * 64 + 8 * 16 * 18 + 8 * 4 * 4 + 32 * 5
    assert score(model, images(), proxies=["flops"])["flops"] == expected


def test_what_cannot_be_computed_is_nan_and_said_once() -> None:
    class Words(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(10, 4)
            self.head = nn.Linear(4, 2)

        def forward(self, inputs: Tensor) -> Tensor:
            return self.head(torch.tanh(self.embedding(inputs)).mean(dim=1))

    batch = torch.arange(12).reshape(4, 3) % 10, torch.tensor([0, 1, 0, 1])
    with pytest.warns(UserWarning) as record:
        values = score(Words, batch)
    message = str(only(record).message)
    missing = {name for name, value in values.items() if math.isnan(value)}
    assert missing == {"nwot", "jacov", "epe_nas", "zen", "synflow"}
    for reason in ("nwot: the network has no rectifier", "jacov: inputs of type torch.int64"):
        assert reason in message


def test_what_is_wrong_is_said() -> None:
    model = linear_net([[1.0]])
    batch = torch.ones(2, 1), torch.tensor([0, 0])
    with pytest.raises(ValueError, match=r"must be among \['params', .* but got \['naswot'\]"):
        score(model, batch, proxies=["naswot"])
    with pytest.raises(ValueError, match="as many targets as inputs"):
        score(model, (torch.ones(3, 1), torch.tensor([0, 0])))
    with pytest.raises(ValueError, match="logits of shape"):
        score(nn.Conv2d(3, 4, 3), images())


class Returning(nn.Module):
    """Returns a function of the logits."""

    def __init__(self, change: Callable[[Any], Any]) -> None:
        super().__init__()
        self.layer = nn.Linear(1, 3)
        self.change = change

    def forward(self, inputs: Tensor) -> Any:
        return self.change(self.layer(inputs))


LINE = torch.tensor([[1.0], [2.0]]), torch.tensor([0, 1])


@pytest.mark.parametrize("proxies", [ALL, *(["synflow"], ["zen"], ["snip"], ["nwot"], ["flops"])])
@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda logits: (logits, logits), "type tuple"),
        (lambda logits: {"logits": logits}, "type dict"),
        (lambda logits: [logits], "type list"),
        (lambda logits: None, "type NoneType"),
        (lambda logits: 1.0, "type float"),
        (lambda logits: logits.argmax(dim=1), r"the shape \(., *\)"),
        (lambda logits: logits.T, r"the shape \(3, .\)"),
        (lambda logits: logits[:, None], r"the shape \(., 1, 3\)"),
        (lambda logits: F.one_hot(logits.argmax(dim=1), 3), "numbers of type torch.int64"),
    ],
)
def test_what_is_no_logits_is_an_error_of_each_proxy(
    change: Callable[[Any], Any], found: str, proxies: Sequence[str]
) -> None:
    with pytest.raises(ValueError, match=f"to floating-point logits .* but returned .*{found}"):
        score(Returning(change), LINE, proxies=proxies)


def without_autograd(logits: Tensor) -> Tensor:
    with torch.no_grad():
        return logits * 2


@pytest.mark.parametrize("change", [Tensor.detach, without_autograd, lambda logits: logits.data])
def test_a_forward_pass_without_a_gradient_is_told(change: Callable[[Tensor], Tensor]) -> None:
    of_gradients = {"synflow", "jacov", "epe_nas", "plain", "fisher", "snip", "grad_norm", "grasp"}
    with pytest.warns(UserWarning, match="synflow: the output of the network has no gradient"):
        values = score(Returning(change), LINE)
    missing = {name for name, value in values.items() if math.isnan(value)}
    assert missing == of_gradients | {"nwot"}  # and no rectifier
    assert values["params"] == 6


def test_a_network_without_a_path_from_its_input_still_has_a_flow() -> None:
    # Zeros of its own and a bias: the logits have a gradient, and no flow through a weight.
    model = Returning(lambda logits: logits * 0 + 0.5)
    assert score(model, LINE, proxies=["synflow"])["synflow"] == math.log(sys.float_info.min)


def test_a_layer_that_returns_a_pair_leaves_fisher_open() -> None:
    class Biased(nn.Linear):
        def forward(self, inputs: Tensor) -> Any:
            return super().forward(inputs), self.bias

    model = nn.Sequential(Biased(1, 3), Returning(lambda logits: logits))
    model[1].layer = nn.Identity()
    model[1].forward = lambda pair: pair[0]
    with pytest.warns(UserWarning, match="fisher: the layer Biased does not return a tensor"):
        values = score(model, LINE, proxies=["fisher", "snip"])
    assert math.isnan(values["fisher"])
    assert values["snip"] > 0


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"model_fn": None}, TypeError, "model_fn must be a function .* but got None"),
        ({"model_fn": lambda: None}, TypeError, "model_fn must return a torch.nn.Module"),
        ({"loss": None}, TypeError, "loss must be a function of logits and targets"),
        ({"loss": lambda *_: 1.0}, ValueError, "loss must return a scalar tensor .* type float"),
        ({"loss": lambda y, _: y.detach().sum()}, ValueError, "a tensor without a gradient"),
        ({"loss": lambda y, _: y.sum(dim=1)}, ValueError, r"a tensor of shape \(2,\)"),
        ({"device": "cuda:99"}, ValueError, "device must be one .* but got 'cuda:99'"),
        ({"seed": "0"}, TypeError, "seed must be an integer, but got '0'"),
        ({"seed": True}, TypeError, "seed must be an integer, but got True"),
        ({"seed": 2**70}, ValueError, "seed must lie between"),
        ({"batch": None}, ValueError, "a pair of tensors .* but got NoneType"),
        ({"batch": torch.ones(2, 1)}, ValueError, "a pair of tensors .* but got Tensor"),
        ({"batch": (1, 2)}, ValueError, "a pair of tensors .* but got int and int"),
        ({"batch": (torch.tensor(1.0), LINE[1])}, ValueError, r"but got the shapes \(\) and"),
        ({"proxies": "snip"}, TypeError, "a sequence of names, but got 'snip'"),
        ({"proxies": [["snip"]]}, ValueError, r"must be among .* but got \[\['snip'\]\]"),
    ],
)
def test_a_wrong_argument_is_named(
    wrong: dict[str, Any], error: type[Exception], message: str
) -> None:
    right: dict[str, Any] = {"model_fn": lambda: nn.Linear(1, 3), "batch": LINE}
    with pytest.raises(error, match=message):
        score(**{**right, **wrong})


def test_the_sampler_does_not_import_torch() -> None:
    code = "import sys, optuna_zaps; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_torch_the_error_says_what_to_install() -> None:
    # SciPy looks at what is in sys.modules, so the sampler goes first.
    code = "import sys, optuna_zaps; sys.modules['torch'] = None; import optuna_zaps.zerocost"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert 'pip install "optuna-zaps[zerocost]"' in done.stderr
