from __future__ import annotations

from dataclasses import asdict
from dataclasses import replace
import gzip
import json
import os
from pathlib import Path
import stat
import warnings

import pytest

from harness.experiment import Cell
from harness.experiment import CellResult
from harness.experiment import SamplerSpec
from harness.run.store import Store
from harness.run.store import latest


def result(
    seed: int = 0, label: str = "a", fingerprint: str = "1", **sampler: object
) -> CellResult:
    spec = SamplerSpec(label, "tpe", sampler, fingerprint)
    return CellResult(
        cell=Cell("bench/data@source", "f00", spec, seed, 3),
        asked=(4, 2, 4, 7),
        ask_seconds=(0.1, 0.2, 0.3, 0.4),
        tell_seconds=(0.0, 0.0, 0.0, 0.01),
        user_attrs=({"zaps:phase": "model", "zaps:mean": 1.5}, {}, {}, {}),
        provenance={"finished": f"2026-01-0{seed + 1}", "optuna": "5.0.0"},
    )


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.load(result().cell) is None
    store.save(result())
    assert store.load(result().cell) == result()
    assert store.load_all() == [result()]
    assert [p.suffix for p in (tmp_path / "cells").iterdir()] == [".gz"]


def test_derived_quantities_by_hand() -> None:
    assert result().evaluated == (4, 2, 7)
    assert not result().capped


def test_equal_work_has_one_key_whatever_its_label() -> None:
    assert result(label="a").cell.key == result(label="b").cell.key
    others = [result(1), result(fingerprint="2"), result(gamma=1), result(gamma=2)]
    assert len({result().cell.key, *(other.cell.key for other in others)}) == 5


def test_a_result_is_loaded_under_the_label_that_asks(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.save(result(label="a"))
    loaded = store.load(result(label="b").cell)
    assert loaded is not None
    assert loaded.cell.sampler.label == "b"


@pytest.mark.parametrize("content", [b"", b"\x1f\x8b\x08\x00", None])
def test_a_damaged_file_counts_as_missing_with_a_warning(
    tmp_path: Path, content: bytes | None
) -> None:
    store = Store(tmp_path)
    store.save(result())
    path = store.path(result().cell)
    path.write_bytes(path.read_bytes()[:-20] if content is None else content)
    with pytest.warns(UserWarning, match="counts as missing"):
        assert store.missing([result().cell]) == [result().cell]
    store.save(result())
    assert store.missing([result().cell, result(1).cell]) == [result(1).cell]


def test_a_file_of_which_a_bit_flips_is_missing_or_what_it_was(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.save(result())
    path = store.path(result().cell)
    whole = path.read_bytes()
    n_missing = 0
    # Every bit of gzip's header and trailer, and one of each byte between them.
    ends = {*range(10), *range(len(whole) - 8, len(whole))}
    bits = [
        8 * byte + bit
        for byte in range(len(whole))
        for bit in (range(8) if byte in ends else [byte % 8])
    ]
    for bit in bits:
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            (found,) = store.load_all() or [None]
        if found is None:
            n_missing += 1
            assert f"{path} is no readable result" in str(caught[0].message)
        else:
            assert found == result()  # a bit of the header that says nothing
    assert n_missing > len(bits) - 8 * 10


def altered(**changes: object) -> bytes:
    content = asdict(result())
    content |= {name: value for name, value in changes.items() if name in content}
    content["cell"] |= {name: value for name, value in changes.items() if name not in content}
    return json.dumps(content).encode()


@pytest.mark.parametrize("content", [
    b"null", b"[]", b"{}", b"5", b'"text"', b'{"cell": null}', b"[" * 100_000, b"\xff\xfe", b"",
    altered(sampler=None), altered(sampler={}), altered(asked=None), altered(asked=[]),
    altered(asked="4247"), altered(asked=[4, "2", 4, 7]), altered(asked=[4, 2]),
    altered(asked=[-1, 2, 4, 7]), altered(ask_seconds=[0.1]), altered(tell_seconds=[None] * 4),
    altered(user_attrs=[None] * 4), altered(provenance=None), altered(spearman="high"),
    altered(budget="3"), altered(seed=None), altered(problem=None), altered(in_flight="four"),
    altered(by_trials="yes"),
    altered(in_flight=0), altered(unheard_of=1),
])  # fmt: skip
def test_what_is_no_result_counts_as_missing(tmp_path: Path, content: bytes) -> None:
    store = Store(tmp_path)
    store.save(result(1))
    path = store.path(result().cell)
    path.write_bytes(gzip.compress(content))
    with pytest.warns(UserWarning, match=f"{path} is no readable result"):
        assert store.missing([result().cell]) == [result().cell]
    with pytest.warns(UserWarning, match=f"{path} is no readable result"):
        assert store.load_all() == [result(1)]


def test_the_altered_content_is_a_result_without_alterations(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.save(result())
    store.path(result().cell).write_bytes(gzip.compress(altered()))
    assert store.load_all() == [result()]


@pytest.mark.parametrize("umask", [0o002, 0o027])
def test_a_cell_has_the_permissions_of_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        Store(tmp_path).save(result())
    finally:
        os.umask(before)
    mode = stat.S_IMODE(Store(tmp_path).path(result().cell).stat().st_mode)
    assert mode == 0o666 & ~umask


def test_a_save_that_is_cut_off_leaves_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", killed)
    with pytest.raises(KeyboardInterrupt):
        Store(tmp_path).save(result())
    assert Store(tmp_path).load_all() == []
    assert list((tmp_path / "cells").iterdir()) == []


def test_of_several_versions_under_one_label_the_latest_counts() -> None:
    old = [result(seed, fingerprint="1") for seed in range(3)]
    new = [replace(r, provenance={"finished": "2026-02-01"}) for r in [result(0, fingerprint="2")]]
    other = [result(5, label="b")]
    assert latest([*old, *other, *new]) == [*other, *new]
