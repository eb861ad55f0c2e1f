from __future__ import annotations

from pathlib import Path

import optuna
import pytest

from harness import problems
from harness import samplers
from optuna_zaps import ZAPSSampler


@pytest.fixture(scope="module")
def benchmark_table() -> problems.TabularBenchmark:
    return problems.load_table("nasbench201/cifar10@package")


@pytest.mark.parametrize("entry", samplers.available(), ids=lambda entry: entry.name)
def test_every_named_sampler_can_be_built_and_runs(
    entry: samplers.Entry, benchmark_table: problems.TabularBenchmark
) -> None:
    if entry.how_to_have:
        pytest.skip(entry.how_to_have)
    spec = samplers.make_spec(entry.name)
    sampler = samplers.build(spec, benchmark_table, budget=10, seed=3)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.optimize(benchmark_table, n_trials=2)
    assert len(study.trials) == 2


def test_only_the_papers_profile_and_two_rivals_plan_for_their_budget() -> None:
    aware = [entry.name for entry in samplers.available() if entry.budget_aware]
    assert aware == ["zaps-paper", "smac", "nevergrad"]
    assert samplers.make_spec("zaps-paper").budget_aware
    assert not samplers.make_spec("zaps").budget_aware


def test_arguments_reach_the_class(benchmark_table: problems.TabularBenchmark) -> None:
    spec = samplers.make_spec("short=zaps(n_startup_trials=7, initial_proxies=['flops'])")
    assert (spec.label, spec.target) == ("short", "zaps")
    sampler = samplers.build(spec, benchmark_table, budget=50, seed=0)
    assert isinstance(sampler, ZAPSSampler)
    assert sampler.initial_proxies_ == ["flops"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("zap", r"must be one of \['zaps', 'zaps-paper', 'tpe', .*\] or module:Class"),
        ("zaps(n_startup=3)", "no argument 'n_startup'.*Did you mean 'n_startup_trials'"),
        ("optuna.samplers:TPE", "has no class 'TPE'"),
        ("no.such:Thing", "cannot be imported"),
        ("optuna:Study", "must be a subclass of optuna.samplers.BaseSampler"),
        ("tpe(seed=3)", "gets its seed from the comparison"),
        ("tpe(3)", "form name=value"),
        ("tpe(n_ei_candidates=__import__('os'))", "must be a number"),
        ("tpe(", "must be written"),
        ("", "must be written"),
        ("..:x", r"must be written .* got '\.\.:x'"),
        (".a:X", "must be written"),
        ("a.:X", "must be written"),
        ("a..b:X", "must be written"),
        (":x", "must be written"),
        ("x:", "must be written"),
        ("mod:Class(", "must be written"),
        ("a=b=c", "must be written"),
        ("optuna.samplers:TPESampler(group=True", "must be written"),
        ("tpe(group=True, group=False)", "'group' is given 2 times"),
        ("optuna.samplers:TPESampler(group=True, seed=1, group=True)", "'group' is given 2 times"),
        ("tpe(1, group=True)", "form name=value"),
        ("tpe(*[1])", "form name=value"),
        ("tpe(**{'group': True})", "form name=value"),
        ("tpe(group=True)(group=True)", "one list of name=value"),
        ("tpe(gamma=f)", "'gamma' of .* must be a number.* got f"),
        ("tpe(gamma=lambda n: 1)", "must be a number"),
        ("tpe(gamma={1})", "must be a number"),
        ("tpe(gamma=1e999)", "must be a number"),
        ("tpe(gamma=" + "(" * 300 + ")" * 300 + ")", "must be Python"),
        ("tpe(gamma='\0')", "must be Python"),
        ("optuna.samplers:RandomSampller", "Did you mean 'RandomSampler'"),
        ("optuna:create_study", "must be a subclass .* but is <function create_study"),
        ("json:JSONDecoder", "must be a subclass .* but is <class 'json.decoder.JSONDecoder'>"),
        ("os:path", "must be a subclass .* but is <module 'posixpath'"),
    ],
)
def test_a_sampler_that_cannot_be_is_refused_with_the_reason(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        samplers.make_spec(text)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("def broken(:", "SyntaxError: invalid syntax"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("import os; os.no_such_name", "AttributeError: module 'os' has no attribute"),
        ("raise SystemExit(3)", "SystemExit: 3"),
    ],
)
def test_a_module_that_cannot_be_imported_is_refused_with_the_reason(
    source: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "users_file.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match=f"'users_file:X' cannot be imported: {reason}"):
        samplers.make_spec("users_file:X")
