"""Figures of a study, small enough to be stored in it.

Only traces that plotly.js 2.35 draws, which optuna-dashboard brings. Each function returns a
figure and the sentences that stand below its title.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from html import escape
import math
from typing import Any

import numpy as np
from optuna.trial import FrozenTrial
from optuna.trial import TrialState
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from optuna_zaps.dashboard.calibration import Calibration
from optuna_zaps.dashboard.drawing import BLUE
from optuna_zaps.dashboard.drawing import BLUES
from optuna_zaps.dashboard.drawing import GRAY
from optuna_zaps.dashboard.drawing import GREEN
from optuna_zaps.dashboard.drawing import N_POINTS
from optuna_zaps.dashboard.drawing import ORANGE
from optuna_zaps.dashboard.drawing import PALE
from optuna_zaps.dashboard.drawing import RED
from optuna_zaps.dashboard.drawing import extent
from optuna_zaps.dashboard.drawing import named_rows
from optuna_zaps.dashboard.drawing import outside
from optuna_zaps.dashboard.drawing import padded
from optuna_zaps.dashboard.drawing import rounded
from optuna_zaps.dashboard.drawing import short
from optuna_zaps.dashboard.drawing import spaced
from optuna_zaps.dashboard.drawing import styled
from optuna_zaps.dashboard.snapshot import Snapshot
from optuna_zaps.dashboard.snapshot import given_proxies
from optuna_zaps.dashboard.snapshot import is_feasible
from optuna_zaps.study.trials import ACQUISITION_KEY
from optuna_zaps.study.trials import PHASE_KEY


N_BARS = 20
"""Largest number of proxies or parameters of a figure."""

_N_OBJECTIVES = 3
_PHASE_COLORS = {
    "exploitation": ORANGE,
    "coverage": "#b98300",
    "random": "#c45a97",
    "model": BLUE,
    "repetition": RED,
}
_OTHER = "not by ZAPS"
_BELOW = {"orientation": "h", "y": -0.2}


class LeftOutError(Exception):
    """Error for a figure that makes no sense for a study; its text is the reason."""


def make_figures(snapshot: Snapshot) -> tuple[dict[str, go.Figure], dict[str, str]]:
    """Draw what makes sense for a study.

    Returns:
        Figures by identity, and for the others the reason why they are left out.
    """
    figures: dict[str, go.Figure] = {}
    left_out: dict[str, str] = {}
    for identity, (title, draw) in FIGURES.items():
        try:
            figure, words = draw(snapshot)
            figures[identity] = styled(figure, title, words)
        except LeftOutError as reason:
            left_out[identity] = str(reason)
    return figures, left_out


def placeholder(identity: str, reason: str) -> go.Figure:
    """Draw the reason instead of a figure that was published earlier."""
    figure = go.Figure()
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    return styled(figure, FIGURES[identity][0], f"Left out: {reason}.")


def predictions(snapshot: Snapshot) -> tuple[go.Figure, str]:
    """Predicted against observed values, with the calibration in words."""
    objectives = range(min(len(snapshot.objectives), _N_OBJECTIVES))
    if not snapshot.forecasts(0):
        raise LeftOutError("no trial has both a prediction and a finite value")
    words = calibration_in_words(snapshot)
    figure = make_subplots(rows=1, cols=len(objectives), horizontal_spacing=0.12)
    for column, objective in enumerate(objectives, start=1):
        forecasts = snapshot.forecasts(objective)
        drawn = [forecasts[i] for i in spaced(len(forecasts))]
        spreads = {"array": rounded(each.std for each in drawn), "thickness": 1, "width": 0}
        last = column == len(objectives)
        points = go.Scatter(
            x=rounded(each.mean for each in drawn),
            y=rounded(each.value for each in drawn),
            error_x={**spreads, "type": "data", "color": GRAY},
            mode="markers",
            marker={
                "color": [each.number for each in drawn],
                "colorscale": BLUES,
                "size": 7,
                "line": {"width": 0.5, "color": "#ffffff"},
                "showscale": last,
                "colorbar": {"title": {"text": "trial"}, "thickness": 10},
            },
            text=[f"trial {each.number}" for each in drawn],
            hovertemplate="%{text}<br>predicted %{x}<br>observed %{y}<extra></extra>",
        )
        observed = [each.value for each in drawn]
        ends = extent(observed, maximize=snapshot.maximize[objective])
        words += outside(observed, ends)
        diagonal = go.Scatter(
            x=rounded(ends),
            y=rounded(ends),
            mode="lines",
            line={"color": GRAY, "dash": "dot", "width": 1},
            hoverinfo="skip",
        )
        figure.add_traces([points, diagonal], rows=[1, 1], cols=[column, column])
        name = short(snapshot.objectives[objective])
        figure.update_xaxes(title={"text": f"predicted: {name}"}, row=1, col=column)
        figure.update_yaxes(
            title={"text": f"observed: {name}"}, range=padded(ends), row=1, col=column
        )
    figure.update_layout(showlegend=False)
    return figure, words


def calibration_in_words(snapshot: Snapshot) -> str:
    """Sentences on how the predictions of each objective agreed with the results."""
    sentences = []
    for objective, name in enumerate(snapshot.objectives[:_N_OBJECTIVES]):
        words = Calibration.of(snapshot.forecasts(objective)).in_words()
        sentences.append(words if len(snapshot.objectives) == 1 else f"{name}: {words}")
    return " ".join(sentences)


def acquisition(snapshot: Snapshot) -> tuple[go.Figure, str]:
    """Acquisition value of each trial, above the phase in which it was chosen."""
    if not any(PHASE_KEY in trial.user_attrs for trial in snapshot.trials):
        raise LeftOutError("no trial was chosen by ZAPSSampler")
    trials = [snapshot.trials[i] for i in spaced(len(snapshot.trials))]
    by_phase: dict[str, list[FrozenTrial]] = {name: [] for name in (*_PHASE_COLORS, _OTHER)}
    for trial in trials:
        by_phase.setdefault(trial.user_attrs.get(PHASE_KEY, _OTHER), []).append(trial)
    shown = [phase for phase, members in by_phase.items() if members]
    figure = make_subplots(
        rows=2, cols=1, shared_xaxes=True, row_heights=[0.68, 0.32], vertical_spacing=0.05
    )
    chosen = [trial for trial in trials if ACQUISITION_KEY in trial.user_attrs]
    curve = go.Scatter(
        x=[trial.number for trial in chosen],
        y=rounded(trial.user_attrs[ACQUISITION_KEY] for trial in chosen),
        mode="lines+markers",
        line={"color": BLUE, "width": 1},
        marker={"size": 5},
        hovertemplate="trial %{x}<br>acquisition %{y}<extra></extra>",
    )
    figure.add_trace(curve, row=1, col=1)
    for position, phase in enumerate(shown):
        members = by_phase[phase]
        marks = go.Scatter(
            x=[trial.number for trial in members],
            y=[position] * len(members),
            mode="markers",
            marker={
                "color": _PHASE_COLORS.get(phase, GRAY),
                "symbol": [_symbol(trial) for trial in members],
                "size": 8,
            },
            text=[trial.state.name.lower() for trial in members],
            hovertemplate=f"trial %{{x}}<br>{escape(phase)}, %{{text}}<extra></extra>",
        )
        figure.add_trace(marks, row=2, col=1)
    figure.update_yaxes(title={"text": "acquisition"}, row=1, col=1)
    figure.update_yaxes(**named_rows(shown), row=2, col=1)
    figure.update_xaxes(title={"text": "trial"}, row=2, col=1)
    figure.update_layout(showlegend=False)
    words = "Below: crosses failed, triangles were pruned, open circles are running."
    if len(snapshot.objectives) == 1:
        words = (
            "Optimistic estimate of the value of each configuration when the model chose it "
            f"(the objective is {snapshot.direction}). {words}"
        )
    return figure, words


def active_proxies(snapshot: Snapshot) -> tuple[go.Figure, str]:
    """Proxies that the model was given, beside their correlation with the values."""
    trials = [snapshot.trials[i] for i in spaced(len(snapshot.trials))]
    given = [given_proxies(trial) for trial in trials]
    correlations = [
        snapshot.correlations(i) for i in range(min(len(snapshot.objectives), _N_OBJECTIVES))
    ]
    counts = dict.fromkeys(snapshot.proxies, 0)
    for name in (name for names in given for name in names):
        counts[name] = counts.get(name, 0) + 1
    if not any(counts.values()) and not correlations[0]:
        raise LeftOutError(snapshot.why_no_proxies or "there are too few values")
    shown = sorted(
        counts, key=lambda name: (-counts[name], -abs(correlations[0].get(name, 0.0)), name)
    )[:N_BARS]
    positions = list(range(len(shown)))
    figure = make_subplots(
        rows=1, cols=2, shared_yaxes=True, column_widths=[0.6, 0.4], horizontal_spacing=0.04
    )
    timeline = go.Heatmap(
        x=[trial.number for trial in trials],
        y=positions,
        z=[[int(name in names) for names in given] for name in shown],
        zmin=0,
        zmax=1,
        colorscale=[[0, "#f1f3f5"], [1, BLUE]],
        showscale=False,
        ygap=2,
        hovertemplate="trial %{x}<br>active: %{z}<extra></extra>",
    )
    figure.add_trace(timeline, row=1, col=1)
    for objective, (values, color) in enumerate(
        zip(correlations, (BLUE, ORANGE, GREEN), strict=False)
    ):
        bars = go.Bar(
            x=rounded(values.get(name, math.nan) for name in shown),
            y=positions,
            orientation="h",
            marker={"color": color},
            name=short(snapshot.objectives[objective]),
            hovertemplate="correlation %{x}<extra></extra>",
        )
        figure.add_trace(bars, row=1, col=2)
    figure.update_yaxes(**named_rows(shown))
    figure.update_yaxes(showticklabels=False, row=1, col=2)
    figure.update_xaxes(title={"text": "trial"}, row=1, col=1)
    figure.update_xaxes(title={"text": "correlation"}, range=[-1.05, 1.05], row=1, col=2)
    figure.data[0].showlegend = False
    figure.update_layout(showlegend=len(correlations) > 1, legend=_BELOW)
    words = "Left: blue where the model was given the proxy when it chose the trial."
    if correlations[0]:
        words += " Right: Spearman correlation with the values of evaluated configurations."
    elif snapshot.why_no_proxies:
        words += f" Correlations are not known: {snapshot.why_no_proxies}."
    if len(counts) > len(shown):
        words += f" {len(shown)} of {len(counts)} proxies are shown."
    return figure, words


def proxy_map(snapshot: Snapshot) -> tuple[go.Figure, str]:
    """Plane of two proxies, with what was evaluated and what is predicted best."""
    if snapshot.why_no_proxies:
        raise LeftOutError(snapshot.why_no_proxies)
    if len(snapshot.proxies) < 2:
        raise LeftOutError("a plane needs two proxies, and there is one")
    located = [(t, row) for t in snapshot.trials if (row := snapshot.row(t)) is not None]
    if not located:
        raise LeftOutError("no trial has a configuration whose proxies are known")
    names = _plane(snapshot)
    x, y = (snapshot.proxy_ranks(name) for name in names)
    figure = go.Figure()

    def add(label: str, points: Sequence[tuple[int, str]], marker: Mapping[str, Any]) -> None:
        """Add a trace of rows and of what is said of each."""
        if points:
            rows, texts = (list(part) for part in zip(*points, strict=True))
            figure.add_trace(
                go.Scatter(
                    x=rounded(x[rows], digits=4),
                    y=rounded(y[rows], digits=4),
                    mode="markers",
                    name=label,
                    marker=marker,
                    text=texts if any(texts) else None,
                    hoverinfo="text" if any(texts) else "skip",
                )
            )

    add(
        "candidate",
        [(row, "") for row in spaced(len(x), 2 * N_POINTS)],
        {"color": PALE, "size": 4},
    )
    scored = [(t, row, v[0]) for t, row in located if (v := snapshot.values(t)) is not None]
    scored = [scored[i] for i in spaced(len(scored))]
    objective = short(snapshot.objectives[0])
    values = [value for *_, value in scored]
    colored = extent(values, maximize=snapshot.maximize[0]) if values else (0.0, 0.0)
    add(
        "evaluated",
        [(row, f"trial {t.number}<br>{objective} {value:.5g}") for t, row, value in scored],
        {
            "color": rounded(values),
            "cmin": colored[0],
            "cmax": colored[1],
            "colorscale": BLUES,
            "reversescale": not snapshot.maximize[0],
            "size": 8,
            "showscale": True,
            "colorbar": {"title": {"text": objective}, "thickness": 10},
        },
    )
    running = [(row, t.number) for t, row in located if t.state == TrialState.RUNNING]
    add(
        "running",
        [(row, f"trial {number}, running") for row, number in running[-N_POINTS:]],
        {"color": GREEN, "symbol": "circle-open", "size": 12, "line": {"width": 2}},
    )
    predicted, left = [], []
    for each in snapshot.predicted_best():
        if each.row is not None:
            status = "not evaluated" if each.trial is None else f"trial {each.trial.number}"
            predicted.append((each.row, f"predicted {each.mean:.5g}<br>{status}"))
            if each.trial is None:
                left.append(predicted[-1])
    add(
        f"predicted best {len(predicted)}",
        predicted,
        {"color": ORANGE, "symbol": "circle-open", "size": 12, "line": {"width": 1.5}},
    )
    add("best left by prediction", left[:1], {"color": ORANGE, "symbol": "star", "size": 15})
    best = snapshot.best()
    row_of_best = None if best is None else snapshot.row(best)
    if best is not None and row_of_best is not None:
        add(
            "best so far",
            [(row_of_best, f"trial {best.number}, best so far")],
            {"color": RED, "symbol": "diamond-open", "size": 13, "line": {"width": 2}},
        )
    for update, name in zip((figure.update_xaxes, figure.update_yaxes), names, strict=True):
        update(title={"text": f"rank of {short(name)}"}, range=[-0.03, 1.03])
    figure.update_layout(legend=_BELOW)
    return figure, (
        f"Configurations by their ranks in {names[0]} and {names[1]}, the two proxies that "
        "together tell most about the values. The darker a point, the better the value."
    )


def importance(snapshot: Snapshot) -> tuple[go.Figure, str]:
    """Share of the variance of the model's predictions that each parameter explains."""
    if snapshot.ranking is None:
        raise LeftOutError("there is no ranking")
    shares = snapshot.importances
    if not any(shares.values()):
        raise LeftOutError("no parameter alone explains what the model predicts")
    shown = list(shares)[:N_BARS]
    bars = go.Bar(
        x=rounded(shares[name] for name in shown),
        y=list(range(len(shown))),
        orientation="h",
        marker={"color": BLUE},
        hovertemplate="%{x}<extra></extra>",
    )
    figure = go.Figure(bars)
    figure.update_yaxes(**named_rows(shown))
    figure.update_xaxes(title={"text": "share of the variance"}, rangemode="tozero")
    words = (
        "Share of the variance of the model's predictions that each parameter explains alone, "
        f"over {len(snapshot.ranking):,} configurations; combinations explain the rest."
    )
    if len(shares) > len(shown):
        words += f" {len(shown)} of {len(shares)} parameters are shown."
    return figure, words


def best_value(snapshot: Snapshot) -> tuple[go.Figure, str]:
    """Values of all trials, and the best so far among feasible ones."""
    if len(snapshot.objectives) > 1:
        raise LeftOutError("several objectives have no single best value")
    scored = [(t, v[0]) for t in snapshot.trials if (v := snapshot.values(t)) is not None]
    if not scored:
        raise LeftOutError("no trial has a finite value yet")
    figure = go.Figure()
    feasible = [(trial, value) for trial, value in scored if is_feasible(trial)]
    violating = [(trial, value) for trial, value in scored if not is_feasible(trial)]
    for label, pairs, marker in (
        ("value", feasible, {"color": GRAY, "size": 6}),
        ("violates a constraint", violating, {"color": RED, "symbol": "x", "size": 6}),
    ):
        drawn = [pairs[i] for i in spaced(len(pairs))]
        if drawn:
            points = go.Scatter(
                x=[trial.number for trial, _ in drawn],
                y=rounded(value for _, value in drawn),
                mode="markers",
                name=label,
                marker=marker,
                hovertemplate="trial %{x}<br>%{y}<extra></extra>",
            )
            figure.add_trace(points)
    best = snapshot.best()
    if best is not None:
        improve = np.maximum if snapshot.maximize[0] else np.minimum
        bests = improve.accumulate([value for _, value in feasible])
        steps = np.flatnonzero(np.diff(bests, prepend=np.nan) != 0)
        steps = steps[spaced(len(steps))]
        line = go.Scatter(
            x=[*(feasible[i][0].number for i in steps), snapshot.trials[-1].number],
            y=rounded([*bests[steps], bests[-1]]),
            mode="lines",
            name="best so far",
            line={"color": BLUE, "shape": "hv", "width": 2},
            hovertemplate="from trial %{x}<br>best %{y}<extra></extra>",
        )
        figure.add_trace(line)
    figure.update_xaxes(title={"text": "trial"})
    values = [value for _, value in scored]
    ends = extent(values, maximize=snapshot.maximize[0])
    figure.update_yaxes(title={"text": short(snapshot.objectives[0])}, range=padded(ends))
    figure.update_layout(legend=_BELOW, showlegend=True)
    words = "No trial satisfies the constraints yet."
    if best is not None:
        words = f"Best: {best.value:.5g} in trial {best.number} ({snapshot.direction})."
    return figure, words + outside(values, ends)


FIGURES: Mapping[str, tuple[str, Callable[[Snapshot], tuple[go.Figure, str]]]] = {
    "zaps-prediction": ("Predicted against observed", predictions),
    "zaps-acquisition": ("Acquisition and phase", acquisition),
    "zaps-proxies": ("Active proxies", active_proxies),
    "zaps-map": ("Map of the space", proxy_map),
    "zaps-importance": ("Importance of parameters", importance),
    "zaps-best": ("Best value", best_value),
}
"""Title and function of each figure, by the identity that the dashboard has for it."""


def _plane(snapshot: Snapshot) -> tuple[str, str]:
    """Proxy that tells most about the values, and that which adds most to it.

    Of active proxies, as long as there are two.
    """
    active = [name for name in snapshot.active if name in snapshot.proxies]
    names = active if len(active) > 1 else list(snapshot.proxies)
    correlations = snapshot.correlations(0)

    def strength(name: str) -> float:
        return abs(correlations.get(name, 1.0))

    first = max(names, key=strength)
    ranks = snapshot.proxy_ranks(first)

    def gain(name: str) -> float:
        other = snapshot.proxy_ranks(name)
        varies = np.ptp(other) > 0 and np.ptp(ranks) > 0
        resemblance = abs(np.corrcoef(ranks, other)[0, 1]) if varies else 1.0
        return strength(name) * (1 - resemblance)

    return first, max((name for name in names if name != first), key=gain)


def _symbol(trial: FrozenTrial) -> str:
    return {
        TrialState.COMPLETE: "circle",
        TrialState.FAIL: "x",
        TrialState.PRUNED: "triangle-up",
    }.get(trial.state, "circle-open")
