"""The paper's violins of discrepancy, and the figure it lacks: how much of what is possible each method gains."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.paper.layout import TASK_TITLES
from taylorpoda.paper.settings import BASELINE, DATA, METHODS, MODELS, UTILITIES, UTILITY_TITLES
from taylorpoda.paper.summary import OPTIMAL

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from taylorpoda.paper.cells import Cell
    from taylorpoda.paper.pipeline import Reproduction
    from taylorpoda.paper.settings import Settings

# Okabe and Ito's colors, told apart by everybody; every method has a mark of its own too.
COLORS = {
    "SHAP": "#000000",
    "OCC-1": "#E69F00",
    "LIME": "#56B4E9",
    "WeightedSHAP": "#CC79A7",
    "TaylorPODA": "#009E73",
    "TaylorPODA-optimal": "#D55E00",
}
MARKS = {"OCC-1": "s", "LIME": "v", "WeightedSHAP": "D", "TaylorPODA": "o", "TaylorPODA-optimal": "*"}
_STYLE: Any = {"svg.hashsalt": "taylorpoda", "svg.fonttype": "path", "font.family": "DejaVu Sans"}
# Printed across a page, 7.2 inches, the smallest letters have 7 points.
_WIDTH = 7.2
_SMALL, _MIDDLE, _LARGE = 7.0, 7.5, 8.5
_ACTIVATIONS = {"identity": "linear", "logistic": "logistic", "relu": "ReLU", "tanh": "tanh"}
_FLAT = 1e-9
_LEFT_END = -0.6
_TICKS = (-0.5, 0.0, 0.5, 1.0)
# Marks of one row stand a little above each other, so that none hides another.
_OFFSETS = {method: 0.13 * (place - 2) for place, method in enumerate(MARKS)}
_DPI = 300


def discrepancy_violins(found: Reproduction) -> Figure:
    """Discrepancy of every method, one panel per task and model; Inclusion AUP, as in the paper.

    Args:
        found: The reproduction.

    Returns:
        A figure with six panels, or fewer where tasks or models are missing.
    """
    from matplotlib.figure import Figure

    methods = (BASELINE, *METHODS)
    tasks = [task for task in TASK_TITLES if any(pair.task == task for pair in found.pairs)]
    models = [model for model in MODELS if any(pair.model == model for pair in found.pairs)]
    figure = Figure(figsize=(_WIDTH * (0.2 + 0.8 * len(models) / 3), 0.9 + 1.9 * len(tasks)), layout="constrained")
    panels = figure.subplots(len(tasks), len(models), squeeze=False, sharex=True)
    for line, task in enumerate(tasks):
        for column, model in enumerate(models):
            axes = panels[line][column]
            pairs = [pair for pair in found.pairs if (pair.task, pair.model) == (task, model)]
            if pairs:
                _violins(axes, [np.concatenate([pair.discrepancy(one) for pair in pairs]) for one in methods])
            axes.set_title(f"{TASK_TITLES[task]}, {MODELS[model]}", fontsize=_MIDDLE)
            axes.set_xticks(range(len(methods)), methods, rotation=40, ha="right", rotation_mode="anchor")
            axes.tick_params(labelsize=_SMALL)
            if column == 0:
                axes.set_ylabel("v(∅) + Σ aᵢ - v(N)", fontsize=_MIDDLE)
    title = "Discrepancy of every method, all hold-out rows\n(attributions for Inclusion AUP)"
    figure.suptitle(title, fontsize=_LARGE)
    return figure


def _violins(axes: Axes, samples: list[NDArray[np.float64]]) -> None:
    scale = max(float(np.max(np.abs(sample))) for sample in samples)
    axes.axhline(0.0, color="#888888", linewidth=0.6, zorder=0)
    for place, (method, sample) in enumerate(zip(COLORS, samples, strict=True)):
        color = COLORS[method]
        if float(np.ptp(sample)) <= _FLAT * max(scale, 1.0):
            # A violin without width: every row has the same discrepancy.
            axes.plot([place - 0.36, place + 0.36], [sample.mean()] * 2, color=color, linewidth=2.2)
            continue
        parts = axes.violinplot(sample, positions=[place], widths=0.8, showextrema=False, showmedians=True)
        for body in parts["bodies"]:  # type: ignore[attr-defined]  # a list of polygons
            body.set(facecolor=color, edgecolor=color, alpha=0.55, linewidth=0.8)
        parts["cmedians"].set(color="#222222", linewidth=1.2)
    axes.margins(x=0.04)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def ceiling_shares(found: Reproduction) -> Figure:
    """The share of the possible gain over Shapley that every method reaches, cell by cell.

    0 is the Shapley value, 1 is the ceiling that no ranking of any kind can beat. Marks on the left edge lie
    beyond it.

    Args:
        found: The reproduction.

    Returns:
        A figure, one panel per task and utility.
    """
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    tasks = [task for task in TASK_TITLES if any(pair.task == task for pair in found.pairs)]
    places = {
        task: [(model, data) for model in MODELS for data in DATA if _has(found, data, model, task)] for task in tasks
    }
    heights = [0.6 + 0.3 * len(places[task]) for task in tasks]
    figure = Figure(figsize=(_WIDTH, 0.9 + sum(heights)), layout="constrained")
    panels = figure.subplots(len(tasks), 4, squeeze=False, sharex=True, height_ratios=heights)
    for line, task in enumerate(tasks):
        for column, utility in enumerate(UTILITIES[task]):
            axes = panels[line][column]
            cells = [cell for cell in found.cells if cell.utility == utility and DATA[cell.data] == task]
            _shares(axes, cells, places[task])
            axes.set_title(UTILITY_TITLES[utility], fontsize=_MIDDLE)
            labels = [_label(found.settings, data, model) for model, data in places[task]] if column == 0 else []
            axes.set_yticks(range(len(places[task])), labels or [""] * len(places[task]), fontsize=_SMALL)
            if column == 0:
                axes.set_ylabel(TASK_TITLES[task], fontsize=_MIDDLE)
            if line == len(tasks) - 1:
                axes.set_xlabel("share of the ceiling's gain", fontsize=_SMALL)
    handles = [
        Line2D([], [], linestyle="", marker=MARKS[one], color=COLORS[one], label=one, markersize=5) for one in METHODS
    ]
    beyond = {"color": "#666666", "markersize": 4, "label": "further left"}
    handles.append(Line2D([], [], linestyle="", marker="<", **beyond))  # type: ignore[arg-type]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize=_MIDDLE)
    title = "What is gained of what can be gained: 0 = Shapley, 1 = the best any ranking could do"
    figure.suptitle(title, fontsize=_LARGE)
    return figure


def _has(found: Reproduction, data: str, model: str, task: str) -> bool:
    return any((pair.data, pair.model, pair.task) == (data, model, task) for pair in found.pairs)


def _label(settings: Settings, data: str, model: str) -> str:
    """A pair, the network by what it is inside."""
    network = settings.network(data, model)
    return f"{data}, {'XGBoost' if network is None else _ACTIVATIONS[network.activation]}"


def _shares(axes: Axes, cells: list[Cell], places: list[tuple[str, str]]) -> None:
    rows = {place: row for row, place in enumerate(places)}
    for edge, style in ((0.0, "-"), (1.0, "--")):
        axes.axvline(edge, color="#888888", linewidth=0.8, linestyle=style, zorder=0)
    for cell in cells:
        if cell.share_of_ceiling is None:
            continue
        shown = max(cell.share_of_ceiling, _LEFT_END)
        beyond = cell.share_of_ceiling < _LEFT_END
        axes.plot(
            shown,
            rows[cell.model, cell.data] + _OFFSETS[cell.method],
            marker="<" if beyond else MARKS[cell.method],
            color=COLORS[cell.method],
            markersize=6.5 if cell.method == OPTIMAL else 3.8,
            linestyle="",
            clip_on=False,
            zorder=3 if cell.method == OPTIMAL else 2,
        )
    axes.set_xlim(_LEFT_END - 0.04, 1.08)
    axes.set_xticks(_TICKS, [f"{tick:g}" for tick in _TICKS])
    axes.set_ylim(len(places) - 0.5, -0.5)
    axes.tick_params(axis="x", labelsize=_SMALL)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", color="#e4e4e4", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def drawn(draw: Callable[[], Figure], *, dpi: int = _DPI) -> dict[str, bytes]:
    """Draw a figure as {"png": ..., "svg": ...}: in our style, and the same bytes whenever it is drawn.

    Args:
        draw: Makes the figure.
        dpi: Dots per inch of the PNG.
    """
    import matplotlib as mpl

    made = {}
    with mpl.rc_context():  # puts the user's own settings back
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        figure = draw()
        for kind, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
            stream = io.BytesIO()
            figure.savefig(stream, format=kind, dpi=dpi, metadata=metadata)
            made[kind] = stream.getvalue()
    return made
