"""Tables and figures of a comparison as files: for a spreadsheet, a text, a paper.

Files for programs hold the full numbers, those for people the texts that the page shows.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from importlib.util import find_spec
import json
from pathlib import Path
import re
from tempfile import TemporaryDirectory

import pandas as pd
import plotly.graph_objects as go

from harness.report.file_names import file_names
from harness.report.panel import Panel
from harness.report.tables import Table
from harness.report.views import Views
from harness.run.files import write_whole


NUMBERS = ("csv", "json")
TEXTS = ("md", "latex")
IMAGES = ("svg", "png")
FORMATS = (*NUMBERS, *TEXTS, *IMAGES)

TABLES, FIGURES = "tables", "figures"
"""Folders of the files."""

_ENDINGS = {"latex": "tex"}
_LATEX = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        **{"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"},
        **{"<": "$<$", ">": "$>$", "|": "$|$", "−": "$-$", "±": r"$\pm$", "∞": r"$\infty$"},
        **{"≤": r"$\leq$", "δ": r"$\delta$", "ρ": r"$\rho$", "–": "--"},
    }
)


def parse_formats(written: Iterable[str]) -> tuple[str, ...]:
    """Formats of an option that was given several times, or with commas.

    Raises:
        ValueError: If there is no such format, or nothing here can write it.
    """
    names = [name.strip().lower() for text in written for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in FORMATS]
    if unknown:
        raise ValueError(f"--format must be of {', '.join(FORMATS)}, but got {unknown[0]!r}.")
    images = [name for name in names if name in IMAGES]
    if images and find_spec("kaleido") is None:
        raise ValueError(
            f"--format {images[0]} needs kaleido, which is not installed. Run: pip install "
            "'optuna-zaps[images]'. The page itself saves each figure as SVG and PNG without it."
        )
    return tuple(dict.fromkeys(names))


def write_exports(
    views: Views, figures: Mapping[str, Panel], folder: Path, formats: Iterable[str]
) -> list[Path]:
    """Write every table, and the numbers and images of every figure.

    Args:
        views: Contents of the report.
        figures: The figures by name of their files.
        folder: Folder of the comparison; the files are in two folders within.
        formats: Of :data:`FORMATS`.

    Returns:
        The folders that were written to.

    Raises:
        ValueError: If images cannot be drawn; everything else is written then.
    """
    chosen = list(formats)
    written: list[Path] = []
    for name, table in _named_tables(views):
        for form in chosen:
            if form not in IMAGES:
                content = _table_file(table, form, name)
                written.append(_write(folder / TABLES, name, form, content))
    for name, panel in figures.items():
        for form in chosen:
            if form in NUMBERS:
                written.append(_write(folder / FIGURES, name, form, _numbers(panel.data, form)))
    images = [form for form in chosen if form in IMAGES]
    if images:
        written += _write_images(figures, folder / FIGURES, images)
    return sorted({path.parent for path in written})


def _named_tables(views: Views) -> Iterator[tuple[str, Table]]:
    """Tables by name of their files."""
    names = file_names([*views.suites, *views.problems])
    for suite in views.suites:
        for table in suite.tables:
            yield f"{table.name}-{names[suite.key]}", table
    for view in views.problems:
        yield f"{view.table.name}-{names[view.key]}", view.table


def _write(folder: Path, name: str, form: str, content: str) -> Path:
    path = folder / f"{name}.{_ENDINGS.get(form, form)}"
    write_whole(path, content)
    return path


def _table_file(table: Table, form: str, name: str) -> str:
    if form in NUMBERS:
        return _numbers(table.numbers, form)
    return _markdown(table) if form == "md" else _latex(table, name)


def _numbers(frame: pd.DataFrame, form: str) -> str:
    """A frame with all of its digits."""
    if form == "csv":
        return str(frame.to_csv(index=False))
    text = str(frame.to_json(orient="records", indent=2, force_ascii=False, double_precision=15))
    infinite = frame.select_dtypes("number").isin([float("inf"), float("-inf")])
    if not infinite.to_numpy().any():
        return text
    # JSON has no infinite number and pandas writes it as null, which is that of NaN.
    rows = json.loads(text)
    for row, name in zip(*infinite.to_numpy().nonzero(), strict=True):
        column = infinite.columns[name]
        rows[row][column] = str(frame.iloc[row][column])
    return json.dumps(rows, indent=2, ensure_ascii=False)


def _markdown(table: Table) -> str:
    def plain(text: str) -> str:
        return re.sub(r"([\\`*_|<\[\]])", r"\\\1", text)

    shown = [
        [f"**{plain(text)}**" if best else plain(text) for text, best in row]
        for row in _texts(table)
    ]
    text = pd.DataFrame(shown).to_markdown(
        index=False,
        headers=[plain(column.title) for column in table.columns],
        disable_numparse=True,  # the texts are as they are to be
        colalign=["left" if column.is_name else "right" for column in table.columns],
    )
    return f"### {plain(table.title)}\n\n{plain(table.explanation)}\n\n{text}\n"


def _latex(table: Table, name: str) -> str:
    shown = [
        [rf"\textbf{{{_tex(text)}}}" if best else _tex(text) for text, best in row]
        for row in _texts(table)
    ]
    text = pd.DataFrame(shown).to_latex(
        index=False,
        header=[_tex(column.title) for column in table.columns],
        column_format="".join("l" if column.is_name else "r" for column in table.columns),
        escape=False,
        caption=_tex(table.title),
        label=f"tab:{name}",
    )
    return r"% needs \usepackage{booktabs}" + f"\n{text}"


def _tex(text: str) -> str:
    return text.translate(_LATEX)


def _texts(table: Table) -> Iterator[list[tuple[str, bool]]]:
    """Text of each cell as the page shows it, and whether it is marked as the best."""
    for record, best in zip(table.records, table.best(), strict=True):
        yield [(column.text(record), column.key in best) for column in table.columns]


def _on_its_own(figure: go.Figure) -> go.Figure:
    """A copy with room for the titles of its axes, which the page makes itself."""
    return go.Figure(figure).update_layout(margin={"b": 64, "r": 24})


def _write_images(
    figures: Mapping[str, Panel], folder: Path, formats: Iterable[str]
) -> Iterator[Path]:
    """Draw each figure with kaleido, all of them in one browser.

    Raises:
        ValueError: If kaleido finds no browser, or the browser fails.
    """
    import plotly.io  # noqa: PLC0415  # takes time, and few ask for images

    with TemporaryDirectory() as drawn:
        files = [
            (_on_its_own(panel.figure), Path(drawn, f"{name}.{form}"))
            for name, panel in figures.items()
            for form in formats
        ]
        try:
            plotly.io.write_images(
                [figure for figure, _ in files],
                [file for _, file in files],
                width=720,
                height=420,
                scale=2,
            )
        except RuntimeError as error:
            raise ValueError(
                "SVG and PNG need Chrome or Chromium, which kaleido drives, but: "
                f"{str(error).strip()} Install it, or run plotly_get_chrome. The page itself "
                "saves each figure without it."
            ) from error
        for _, file in files:
            write_whole(folder / file.name, file.read_bytes())
            yield folder / file.name
