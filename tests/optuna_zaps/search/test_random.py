from __future__ import annotations

from optuna_zaps._randomness import stream


def test_a_stream_is_that_of_its_seed_phase_and_round_alone() -> None:
    keys = [(s, phase, r) for s in (0, 1) for phase in ("pool", "ties") for r in (0, 1, 2)]
    drawn = {key: tuple(stream(*key).random(4)) for key in keys}
    assert len(set(drawn.values())) == len(keys)
    assert drawn == {key: tuple(stream(*key).random(4)) for key in reversed(keys)}
    assert stream(0, "pool").random() == stream(0, "pool", 0).random()
