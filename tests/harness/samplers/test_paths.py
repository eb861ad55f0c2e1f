from __future__ import annotations

import numpy as np
import pytest

from harness.problems.nasbench201 import EDGES
from harness.problems.nasbench201 import OPERATIONS
from harness.samplers.paths import edge_paths
from harness.samplers.paths import vertex_paths
from harness.samplers.space import Space


def test_a_cell_of_nasbench201_by_hand() -> None:
    space = Space(dict.fromkeys(EDGES, OPERATIONS))
    # none 0, skip 1, conv1 2, conv3 3, pool 4; edges 01, 02, 12, 03, 13, 23.
    cell = (3, 1, 4, 2, 0, 3)
    encoded = edge_paths(space, [cell, (0,) * 6])
    # 0 -> 3: conv1, place 2. 0 -> 1 -> 3: conv3, none, place 5 + 3 * 5 + 0. 0 -> 2 -> 3: skip,
    # conv3, place 5 + 1 * 5 + 3. The path of three edges is cut off.
    assert encoded.shape == (2, 30)
    assert np.flatnonzero(encoded[0]).tolist() == [2, 13, 20]
    assert np.flatnonzero(encoded[1]).tolist() == [0, 5]  # both paths of two edges are none, none


def nasbench101() -> Space:
    operations = ("input", "conv1x1", "conv3x3", "maxpool", "output")
    edges = [f"edge_{i}_{j}" for i in range(7) for j in range(i + 1, 7)]
    return Space(
        dict.fromkeys([*edges, *(f"op_{i}_{o}" for i in range(7) for o in operations)], (0, 1))
    )


def test_a_cell_of_nasbench101_by_hand() -> None:
    space = nasbench101()
    present = {"edge_0_6", "edge_0_1", "edge_1_6", "edge_1_2", "edge_2_6", "edge_0_3"}
    present |= {"op_0_input", "op_1_conv3x3", "op_2_maxpool", "op_3_conv1x1", "op_6_output"}
    cell = tuple(int(name in present) for name in space.names)
    (encoded,) = vertex_paths(space, [cell])
    # 1 + 3 + 9 + 27 places. The empty path, place 0; conv3x3, place 1 + 1; conv3x3, maxpool,
    # place 4 + 1 * 3 + 2. Vertex 3 leads nowhere.
    assert len(encoded) == 40
    assert np.flatnonzero(encoded).tolist() == [0, 2, 9]


def test_a_path_of_four_operations_is_cut_off() -> None:
    space = nasbench101()
    chain = {f"edge_{i}_{j}" for i, j in ((0, 1), (1, 2), (2, 3), (3, 4), (4, 6))}
    chain |= {f"op_{i}_conv1x1" for i in range(1, 5)}
    (encoded,) = vertex_paths(space, [tuple(int(name in chain) for name in space.names)])
    assert not encoded.any()


def test_other_parameters_are_refused() -> None:
    space = Space({"x": [0, 1], "edge_0_1": [0, 1]})
    with pytest.raises(ValueError, match="named edge_0_1"):
        edge_paths(space, [(0, 0)])
    with pytest.raises(ValueError, match="bits named edge_0_1"):
        vertex_paths(space, [(0, 0)])
