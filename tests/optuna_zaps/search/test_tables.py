"""Proxy tables in every form that pandas has, and names that the user shares with us."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal
import math
from typing import Any

from flat import FLAT
import numpy as np
import optuna
import pandas as pd
import pytest

from optuna_zaps import Profile
from optuna_zaps import ZAPSSampler


OPS, WIDTHS = list("abcde"), [8, 16, 32]
SPACE = {"op": OPS, "width": WIDTHS}


def table() -> pd.DataFrame:
    rows = pd.MultiIndex.from_product(SPACE.values(), names=list(SPACE)).to_frame(index=False)
    rng = np.random.default_rng(0)
    return rows.assign(flops=rng.permutation(15), snip=rng.normal(size=15).round(3))


def study_of(
    proxies: Any,
    search_space: dict[str, Any] | None = SPACE,
    offered: dict[str, list[Any]] = SPACE,
    n_trials: int = 8,
    profile: Profile | None = None,
) -> optuna.Study:
    zaps = ZAPSSampler(
        proxies, search_space=search_space, n_startup_trials=5, seed=0, profile=profile
    )
    study = optuna.create_study(sampler=zaps)

    def objective(trial: optuna.Trial) -> float:
        total = 0
        for name, choices in offered.items():
            value = trial.suggest_categorical(name, choices)
            total += list(map(repr, choices)).index(repr(value))
        return float(total)

    study.optimize(objective, n_trials=n_trials)
    return study


def outcome(study: optuna.Study) -> list[Any]:
    return [(trial.params, trial.user_attrs) for trial in study.trials]


@pytest.fixture(scope="module")
def plain() -> list[Any]:
    """Outcome with the table as it is."""
    return outcome(study_of(table()))


# --- forms that say the same ---------------------------------------------------------------------

Form = Callable[[pd.DataFrame], Any]


def tuples_as_index(t: pd.DataFrame) -> pd.DataFrame:
    rows = pd.Index(list(zip(t["op"], t["width"], strict=True)), tupleize_cols=False)
    return t[["flops", "snip"]].set_axis(rows)


def as_decimals(t: pd.DataFrame) -> pd.DataFrame:
    return t.assign(snip=[Decimal(str(value)) for value in t["snip"]])


FORMS: dict[str, Form] = {
    "categories": lambda t: t.astype({"op": "category", "width": "category"}),
    "categories of numbers as proxies": lambda t: t.astype({"flops": "category"}),
    "an index of categories": lambda t: t.astype({"op": "category"}).set_index(["op", "width"]),
    "columns of categories": lambda t: t.set_axis(pd.CategoricalIndex(t.columns), axis=1),
    "nullable": lambda t: t.convert_dtypes(),
    "nullable in an index": lambda t: t.convert_dtypes().set_index(["op", "width"]),
    "pyarrow": lambda t: t.convert_dtypes(dtype_backend="pyarrow"),
    "objects": lambda t: t.astype(object),
    "objects in an index": lambda t: t.astype(object).set_index(["op", "width"]),
    "narrow": lambda t: t.astype({"width": np.uint8, "flops": np.float32}),
    "sparse": lambda t: t.astype({"flops": pd.SparseDtype(np.int64)}),
    "decimals": as_decimals,
    "an index without names": tuples_as_index,
    "levels in part with names": lambda t: t.set_index(["op", "width"]).rename_axis(["op", None]),
    "levels in another order": lambda t: t.set_index(["width", "op"]),
    "one parameter in the index": lambda t: t.set_index("width"),
    "pieces with keys": lambda t: pd.concat({"first": t[:5], "second": t[5:]}),
    "an index that repeats": lambda t: t.set_axis([7] * 15),
    "lists": lambda t: t.to_dict("list"),
    "tuples": lambda t: {name: tuple(column) for name, column in t.items()},
    "arrays": lambda t: {name: column.to_numpy() for name, column in t.items()},
    "arrays of objects": lambda t: {name: column.to_numpy(object) for name, column in t.items()},
    "an array of text": lambda t: {**t.to_dict("list"), "op": t["op"].to_numpy("U1")},
    "series": lambda t: dict(t.items()),
    "series of categories": lambda t: dict(t.astype("category").items()),
    "columns in another order": lambda t: t[["flops", "op", "snip", "width"]].to_dict("list"),
    "an index of dates": lambda t: t.set_axis(pd.date_range("2026-01-01", periods=15)),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_table_in_another_form_is_the_same_table(form: str, plain: list[Any]) -> None:
    assert outcome(study_of(FORMS[form](table()))) == plain


@pytest.mark.parametrize(
    "form", ["an index of categories", "nullable in an index", "objects in an index"]
)
def test_named_levels_say_which_values_are_parameters(form: str, plain: list[Any]) -> None:
    assert outcome(study_of(FORMS[form](table()), None)) == plain


@pytest.mark.parametrize("dtype", ["object", "category"])
def test_of_a_named_index_the_columns_are_proxies_whatever_their_type(
    dtype: str, plain: list[Any]
) -> None:
    named = table().set_index(["op", "width"]).astype({"flops": dtype})
    study = study_of(named, None)
    assert study.sampler.proxies_.columns.tolist() == ["op", "width", "flops", "snip"]
    assert outcome(study) == plain


def test_a_table_without_proxies_says_which_configurations_there_are() -> None:
    some = table().drop(index=[3, 7]).set_index(["op", "width"])[[]]
    study = study_of(some, None, n_trials=20, profile=FLAT)
    assert {tuple(trial.params.values()) for trial in study.trials} == set(some.index)
    assert len(study.trials) == 13


def test_names_that_are_numbers_are_their_text() -> None:
    numbered = table().set_axis(range(4), axis=1)
    renamed = {"0": OPS, "1": WIDTHS}
    study = study_of(numbered, renamed, renamed)
    assert study.sampler.proxies_.columns.tolist() == ["0", "1", "2", "3"]
    zaps = ZAPSSampler(numbered, search_space=renamed, initial_proxies=[3])  # type: ignore[list-item]
    assert zaps.initial_proxies_ == ["3"]


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("make", [list, tuple, np.array, lambda cell: dict(zip("xy", cell, strict=True))])  # fmt: skip # noqa: E501
@pytest.mark.filterwarnings("ignore:Choices for a categorical distribution")
def test_cells_that_hold_several_values(make: Callable[[Any], Any], given: bool) -> None:
    cells = [[i, j] for i in range(3) for j in range(3)]
    offered = [make(cell) for cell in cells]
    if make is np.array:  # as parquet reads lists
        offered = cells
    rows = pd.DataFrame({"kernel": [make(cell) for cell in cells], "flops": range(9)})
    space = {"kernel": offered}
    study = study_of(rows, space if given else None, space, 20, FLAT)
    assert len(study.trials) == 9
    ranked = study.sampler.rank(study)["kernel"]
    assert sorted(map(str, ranked)) == sorted(
        str(trial.params["kernel"]) for trial in study.trials
    )


# --- missing values ------------------------------------------------------------------------------


def with_a_hole(dtype: str) -> pd.DataFrame:
    """A table in which 16 is missing among the widths."""
    holes = table().astype({"width": "Float64" if "l" in dtype else "Int64"})
    holes["width"] = holes["width"].mask(holes["width"] == 16)
    if dtype == "category":
        return holes.astype({"width": "float64"}).astype({"width": "category"})
    return holes.astype({"width": dtype})


@pytest.mark.parametrize("none", [None, math.nan], ids=["None", "NaN"])
@pytest.mark.parametrize("indexed", [True, False], ids=["index", "columns"])
@pytest.mark.parametrize("given", [True, False], ids=["given", "inferred"])
@pytest.mark.parametrize("dtype", ["float64", "Int64", "Float64", "object", "category"])
def test_a_missing_value_is_the_one_that_the_study_offers(
    dtype: str, given: bool, indexed: bool, none: float | None
) -> None:
    """pandas has one missing value, Optuna two, and a file that is read again has lost which."""
    rows = with_a_hole(dtype)
    if indexed or not given:
        rows = rows.set_index(["op", "width"])
    space = {"op": OPS, "width": [8, none, 32]}
    study = study_of(rows, space if given else None, space, 20, FLAT)
    tried = [repr(trial.params["width"]) for trial in study.trials]
    assert sorted(tried) == sorted(["8", "32", repr(none)] * 5)


def test_where_both_are_offered_each_is_itself() -> None:
    cells = pd.Series([None, math.nan, "x"], dtype=object)
    space = {"a": [None, math.nan, "x"]}
    study = study_of(pd.DataFrame({"a": cells, "flops": [1, 3, 2]}), space, space)
    assert sorted(repr(trial.params["a"]) for trial in study.trials) == ["'x'", "None", "nan"]


def test_a_missing_value_that_the_space_does_not_offer_is_named() -> None:
    with pytest.raises(ValueError, match=r"Row 1 has width=nan.* offers only"):
        ZAPSSampler(with_a_hole("float64"), search_space=SPACE)


# --- tables that say nothing, or two things ------------------------------------------------------


def twice(column: str) -> Form:
    return lambda t: pd.concat([t, t[[column]]], axis=1)


def indexed_by(*names: str | None) -> Form:
    return lambda t: t.set_axis(
        pd.MultiIndex.from_arrays([t["op"], t["width"]][: len(names)], names=names)
        if len(names) > 1
        else pd.Index(t["op"], name=names[0])
    )


@pytest.mark.parametrize(
    ("form", "message"),
    [
        (twice("op"), r"name of its own, but \['op'\] occur more than once"),
        (twice("width"), r"name of its own, but \['width'\] occur more than once"),
        (twice("snip"), r"name of its own, but \['snip'\] occur more than once"),
        (lambda t: t.set_index("op", drop=False), r"\['op'\] occur more than once"),
        (indexed_by("flops"), r"\['flops'\] occur more than once"),
        (indexed_by("op", "width"), r"\['op', 'width'\] occur more than once"),
        (indexed_by("id", "id"), r"\['id'\] occur more than once"),
        (lambda t: t.rename(columns={"flops": 1, "snip": "1"}), r"\['1'\] occur more than once"),
        (
            lambda t: t.set_axis(pd.MultiIndex.from_product([["x"], t.columns]), axis=1),
            r"one name for each column, but has tuples of names as \('x', 'op'\)",
        ),
        (
            lambda t: t.set_index(["width", "op"]).rename_axis(["width", None]),
            r"those that have names as \['op', 'width'\], but they are \['width', None\]",
        ),
        (lambda t: t[[]], r"\['op', 'width'\] are missing from its columns \[\]"),
        (lambda t: t.assign(x=t["flops"] + 1j), "'x' has dtype complex128"),
        (lambda t: t.assign(x=[1 + 1j] * 15), "'x' has dtype complex128"),
        (lambda t: t.assign(x=pd.Series([1.0] * 14 + [1j], dtype=object)), "holds 1j"),
        (lambda t: t.assign(x=["1"] * 15), "'x' has dtype (str|object)"),
        (lambda t: t.assign(x=pd.Series([1, "n/a"] * 7 + [2], dtype=object)), "holds 'n/a'"),
        (lambda t: t.assign(x=pd.Series([[1, 2]] * 15)), r"holds \[1, 2\]"),
        (lambda t: t.assign(x=pd.Categorical(["lo"] * 15)), "dtype category and holds 'lo'"),
        (lambda t: t.assign(x=pd.date_range("2026-01-01", periods=15)), "'x' has dtype datetime"),
        (lambda t: t.assign(x=pd.to_timedelta(t["flops"], unit="s")), "'x' has dtype timedelta"),
        (lambda t: t.assign(x=[date(2026, 1, 1)] * 15), "'x' has dtype object and holds"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused_when_the_sampler_is_made(
    form: Form, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        ZAPSSampler(form(table()), search_space=SPACE)


def test_numbers_as_objects_are_no_parameters_unless_it_is_said() -> None:
    with pytest.raises(ValueError, match=r"Cannot tell whether \['flops'\].*infer_objects"):
        ZAPSSampler(table().astype({"flops": object}))
    # A mixture is in no doubt.
    mixed = pd.DataFrame({"a": pd.Series([1, "x", False], dtype=object), "flops": [1, 2, 3]})
    assert ZAPSSampler(mixed).proxies_.columns.tolist() == ["a", "flops"]


def test_a_numeric_column_is_a_parameter_once_it_is_named_as_messages_say() -> None:
    columns = table().to_dict("list")
    way = r"search_space={name: sorted\(set\(table\[name\]\)\), ...} with every parameter"
    with pytest.raises(ValueError, match=way):
        ZAPSSampler(columns)  # Without the widths, rows repeat an operation.
    named = {name: sorted(set(columns[name])) for name in ("op", "width")}
    assert ZAPSSampler(columns, search_space=named).initial_proxies_ == ["flops", "snip"]
    distinct = {"op": list("abc"), "width": [8, 16, 32]}
    study = optuna.create_study(sampler=ZAPSSampler(distinct))
    trial = study.ask()
    with pytest.raises(ValueError, match=way):
        trial.suggest_int("width", 8, 32)


def test_numbers_beyond_a_float_rank_at_the_end() -> None:
    with pytest.warns(UserWarning, match="'big' has 2 infinite values"):
        rows = pd.DataFrame({"big": [3, 10**400, -(10**400), None]}, dtype=object)
        zaps = ZAPSSampler(rows.assign(op=list("abcd")), search_space={"op": list("abcd")})
    big = zaps.proxies_["big"].tolist()
    assert big[:3] == [3, math.inf, -math.inf]
    assert math.isnan(big[3])


# --- names that are ours and the user's ----------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "columns", "index"),
    [
        (["op", "width"], ["mean", "std"], "rank"),
        (["mean", "width"], ["zaps:mean", "std"], "rank"),
        (["mean", "std"], ["zaps:mean", "zaps:std"], "rank"),
        (["rank", "std"], ["mean", "zaps:std"], "zaps:rank"),
        (["mean", "zaps:mean"], ["zaps:zaps:mean", "std"], "rank"),
    ],
)
def test_a_ranking_has_every_parameter(names: list[str], columns: list[str], index: str) -> None:
    space = dict(zip(names, SPACE.values(), strict=True))
    rows = table().rename(columns=dict(zip(SPACE, names, strict=True)))
    study = study_of(rows, space, space)
    ranking = study.sampler.rank(study, 15)
    assert ranking.columns.tolist() == [*names, *columns]
    assert ranking.index.name == index
    assert set(map(tuple, ranking[names].to_numpy())) == set(
        map(tuple, table()[["op", "width"]].astype(object).to_numpy())
    )
    # All else is that of a study without a clash, and the index becomes a column as ever.
    plain = study_of(table())
    expected = plain.sampler.rank(plain, 15)
    np.testing.assert_array_equal(ranking[columns], expected[["mean", "std"]])
    assert ranking.reset_index()[index].tolist() == list(range(1, 16))


def test_a_proxy_called_like_a_parameter_has_a_column_of_its_own() -> None:
    def proxies(params: dict[str, Any]) -> dict[str, float]:
        return {"width": params["width"] ** 2, "mean": OPS.index(params["op"])}

    zaps = ZAPSSampler(proxies, search_space=SPACE, initial_proxies=["width"])
    frame = zaps.proxies_
    assert frame.columns.tolist() == ["op", "width", "proxy:width", "mean"]
    assert frame["proxy:width"].tolist() == [width**2 for width in frame["width"]]
    assert zaps.initial_proxies_ == ["width"]
    # Beside ordinary names nothing is renamed.
    assert ZAPSSampler(table(), search_space=SPACE).proxies_.columns.tolist() == list(table())
