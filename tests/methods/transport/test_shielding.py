import numpy as np
import pytest

from tests.oracles import transport as oracle
from workbench.errors import DataError, ParameterError
from workbench.methods.transport.shielding import directions, shield_grid


@pytest.mark.parametrize("neighbors", [4, 8])
@pytest.mark.parametrize(
    ("shape", "target"), [((8, 8), (8, 8)), ((5, 7), (6, 4)), ((9,), (5,)), ((3, 3, 3), (2, 3, 4))]
)
@pytest.mark.parametrize("empty", [0.0, 0.4])
def test_equals_the_definition(shape, target, neighbors, empty):
    rng = np.random.default_rng(len(shape) + neighbors)
    tmap = rng.integers(0, np.prod(target), shape)
    tmap[rng.random(shape) < empty] = -1
    spacing = (1.0, 0.5, 2.0)[: len(shape)]
    rows, cols = shield_grid(tmap, target, neighbors=neighbors, spacing=spacing)
    found = set(zip(rows.tolist(), cols.tolist(), strict=True))
    steps = directions(len(shape), neighbors)[:, 3 - len(shape) :]
    expected = oracle.unshielded(tmap, target, steps, spacing)
    for s in np.argwhere(tmap >= 0):
        number = int(np.ravel_multi_index(tuple(s), shape))
        near = [s, *(n for step in steps if (n := oracle.next_with_mass(s, step, tmap)) is not None)]
        expected |= {(number, int(tmap[tuple(n)])) for n in near}
    assert found == expected


def test_a_smooth_map_leaves_few_pairs():
    rows, _ = shield_grid(np.arange(400).reshape(20, 20))
    assert len(rows) < 25 * 400


def test_bad_input():
    with pytest.raises(ParameterError, match="neighbors=6"):
        shield_grid(np.arange(4), neighbors=6)
    with pytest.raises(DataError, match="target of 3 pixels"):
        shield_grid(np.arange(4), (3,))
