"""Note on a study, in Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from optuna.trial import TrialState

from optuna_zaps.dashboard.figures import FIGURES
from optuna_zaps.dashboard.figures import calibration_in_words
from optuna_zaps.dashboard.snapshot import Snapshot
from optuna_zaps.dashboard.snapshot import is_feasible
from optuna_zaps.study.trials import PHASE_KEY
from optuna_zaps.study.trials import constraints_of


HEADING = "## ZAPS: progress and current beliefs"
"""First line of the note; text of the user above it is left as it is."""

_N_PREDICTED = 5
_N_PARAMETERS = 8
_N_PROXIES = 10
_N_LETTERS = 300
_PHASES = {
    "exploitation": "tried where the initial proxies rank highest",
    "coverage": "spread over the space",
    "random": "drawn at random",
    "model": "chosen by the model",
    "repetition": "repeated because nothing new was left",
}


def with_note(existing: str, note: str) -> str:
    """Replace an earlier note in a text, or append it to what a user wrote."""
    written, _, _ = existing.partition(HEADING)
    return f"{written.rstrip()}\n\n{note}" if written.strip() else note


def make_note(snapshot: Snapshot, left_out: Mapping[str, str]) -> str:
    """Describe what the sampler has done and believes.

    Args:
        snapshot: State of the study.
        left_out: Why figures are left out, by their identities.
    """
    parts = [
        HEADING,
        f"Written by `optuna_zaps.dashboard` after {_count(len(snapshot.trials), 'trial')}. Text "
        "above this heading is never changed; text below it is overwritten.",
        *_done(snapshot),
        *_constraints(snapshot),
        *_proxies(snapshot),
        *_predictions(snapshot),
        *_left_out(left_out),
        f"Sampler: {_code(snapshot.sampler)}",
    ]
    return "\n\n".join(parts) + "\n"


def _done(snapshot: Snapshot) -> list[str]:
    states = Counter(trial.state for trial in snapshot.trials)
    told = [
        f"{states[state]} {word}"
        for state, word in (
            (TrialState.COMPLETE, "complete"),
            (TrialState.PRUNED, "pruned"),
            (TrialState.FAIL, "failed"),
            (TrialState.RUNNING, "running"),
            (TrialState.WAITING, "waiting"),
        )
        if states[state]
    ]
    phases = Counter(trial.user_attrs.get(PHASE_KEY) for trial in snapshot.trials)
    origins = [
        f"{count} {_PHASES.get(phase, phase)}"
        for phase, count in phases.items()
        if phase is not None
    ]
    if phases[None]:
        origins.append(f"{phases[None]} not chosen by ZAPS (but by a user or another sampler)")
    sentences = [f"**Trials.** {', '.join(told) or 'None yet'}."]
    if origins:
        sentences.append(f"Their configurations: {', '.join(origins)}.")
    best = snapshot.best()
    if best is not None:
        params = ", ".join(f"{_code(k)} = {_code(v)}" for k, v in _some(snapshot, best.params))
        more = ", ..." if len(best.params) > _N_PARAMETERS else ""
        sentences.append(
            f"The best value so far is **{best.value:.5g}** ({snapshot.direction}), in trial "
            f"{best.number}: {params}{more}."
        )
    elif len(snapshot.objectives) == 1:
        sentences.append("No trial counts as best yet.")
    else:
        names = ", ".join(
            f"{_code(name)} ({'maximized' if maximize else 'minimized'})"
            for name, maximize in zip(snapshot.objectives, snapshot.maximize, strict=True)
        )
        sentences.append(f"The objectives are {names}; the dashboard shows their Pareto front.")
    return [" ".join(sentences)]


def _constraints(snapshot: Snapshot) -> list[str]:
    constrained = [trial for trial in snapshot.trials if constraints_of(trial)]
    if not constrained:
        return []
    n_violating = sum(not is_feasible(trial) for trial in constrained)
    text = (
        f"**Constraints.** {_count(len(constrained), 'trial')} with constraints, of which "
        f"{n_violating} violate at least one. The best value above is of a trial that violates "
        "none; predictions below are of the objective alone."
    )
    if any("constraints" not in trial.system_attrs for trial in constrained):
        text += (
            " They were set by `trial.set_constraint`, which optuna-dashboard 0.21 does not read: "
            "elsewhere, it may show a trial that violates them as the best."
        )
    return [text]


def _proxies(snapshot: Snapshot) -> list[str]:
    if snapshot.why_no_proxies:
        return []
    correlations = snapshot.correlations(0)
    if snapshot.active:
        active = ", ".join(map(_code, snapshot.active))
        text = (
            f"**Proxies.** The model was last given {len(snapshot.active)} of "
            f"{_count(len(snapshot.proxies), 'proxy', 'proxies')}: {active}."
        )
    else:
        text = "**Proxies.** No model has chosen a trial yet."
    text += f" The initial design is based on {', '.join(map(_code, snapshot.initial))}."
    if not correlations:
        return [text]
    strongest = sorted(correlations, key=lambda name: -abs(correlations[name]))[:_N_PROXIES]
    text += f" Strongest correlations with {_code(snapshot.objectives[0])} so far:"
    rows = [
        [_code(name), f"{correlations[name]:+.2f}", "yes" if name in snapshot.active else ""]
        for name in strongest
    ]
    return [text, _table(["proxy", "Spearman correlation", "active"], rows)]


def _predictions(snapshot: Snapshot) -> list[str]:
    parts = []
    if snapshot.forecasts(0):
        parts.append(f"**Predictions.** {calibration_in_words(snapshot)}")
    shares = {name: share for name, share in snapshot.importances.items() if share >= 0.005}
    if shares:
        told = ", ".join(
            f"{_code(name)} {share:.0%}" for name, share in list(shares.items())[:_N_PARAMETERS]
        )
        parts.append(
            f"**Parameters.** Share of the variance of the predictions that each explains alone: "
            f"{told}."
        )
    predicted = snapshot.predicted_best()[:_N_PREDICTED]
    if predicted:
        names = [name for name, _ in _some(snapshot, predicted[0].params)]
        rows = [
            [
                str(position),
                *(_code(each.params[name]) for name in names),
                f"{each.mean:.5g} ± {each.std:.2g}",
                "not evaluated" if each.trial is None else f"trial {each.trial.number}",
            ]
            for position, each in enumerate(predicted, start=1)
        ]
        text = f"**Predicted best.** Top {len(predicted)} after a fit on all values"
        if len(names) < len(predicted[0].params):
            text += f" (the {len(names)} most important of {len(predicted[0].params)} parameters)"
        parts += [f"{text}:", _table(["rank", *map(_code, names), "predicted", "evaluated"], rows)]
    elif snapshot.why_no_ranking:
        parts.append(f"No ranking: {_first_clause(snapshot.why_no_ranking)}.")
    return parts


def _left_out(left_out: Mapping[str, str]) -> list[str]:
    if not left_out:
        return []
    lines = [f"- {FIGURES[identity][0]}: {reason}." for identity, reason in left_out.items()]
    return ["**Figures left out**", "\n".join(lines)]


def _first_clause(message: str) -> str:
    """Beginning of an error's message, to stand inside a sentence."""
    clause = message.partition(". ")[0].rstrip(".")
    return clause[:1].lower() + clause[1:]


def _some(snapshot: Snapshot, params: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Most important parameters of a configuration, in the order of their importance."""
    order = [name for name in snapshot.importances if name in params]
    order += [name for name in params if name not in order]
    return [(name, params[name]) for name in order[:_N_PARAMETERS]]


def _count(n: int, singular: str, plural: str = "") -> str:
    return f"{n} {singular if n == 1 else plural or singular + 's'}"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _code(value: Any) -> str:
    """Text that Markdown leaves as it is, inside a table too."""
    text = f"{value:.5g}" if isinstance(value, float) else " ".join(str(value).split())
    text = text if len(text) <= _N_LETTERS else f"{text[:_N_LETTERS]}..."
    return f"`{text.replace('`', chr(39)).replace('|', chr(92) + '|') or ' '}`"
