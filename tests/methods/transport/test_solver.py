import json
import subprocess
import sys

import numpy as np
import pytest

from tests.oracles import transport as oracle
from workbench.errors import DataError, ParameterError
from workbench.methods.transport import hierarchy_grid, ot2_grid
from workbench.methods.transport.result import HISTORY


def blobs(side, seed=0):
    """Two smooth images with structure at several scales."""
    rng = np.random.default_rng(seed)
    rows, cols = np.mgrid[:side, :side] / side
    waves = [np.cos(2 * np.pi * (k * rows + m * cols + rng.random())) for k, m in rng.integers(1, 4, (8, 2))]
    return 4.5 + sum(waves[:4]), 4.5 + sum(waves[4:])


@pytest.mark.parametrize("backend", ["pdhg", "highs"])
@pytest.mark.parametrize(
    ("shape", "other", "spacing"),
    [((8,), (11,), 1.0), ((1, 9), (4, 5), (1.0, 2.0)), ((9, 14), (12, 7), (0.5, 1.0)), ((4, 3, 5), (3, 5, 4), 1.0)],
)
def test_both_backends_hold_the_exact_value(shape, other, spacing, backend):
    rng = np.random.default_rng(5)
    a, b = rng.random(shape), rng.random(other) * (rng.random(other) < 0.7)
    exact = oracle.least_cost(a, b, np.broadcast_to(spacing, len(shape)))
    result = ot2_grid(a, b, spacing=spacing, backend=backend, coarsest=4)
    assert result.lower <= exact * (1 + 1e-12)
    assert exact * (1 - 1e-12) <= result.upper
    assert result.rel_gap <= 1e-4


@pytest.mark.parametrize("shift", [(7, 5), (0, 3), (-4, 6)])
def test_translations_are_exact(shift):
    a = np.zeros((32, 32))
    a[8:20, 8:21] = np.random.default_rng(6).random((12, 13))
    result = ot2_grid(a, np.roll(a, shift, (0, 1)), spacing=1 / 32)
    assert result.value == pytest.approx((shift[0] ** 2 + shift[1] ** 2) / 1024, rel=1e-12)
    assert result.rel_gap < 1e-9


def test_lower_bound_is_at_least_the_distance_of_the_means():
    a, b = blobs(16)
    centres = np.argwhere(np.ones((16, 16)))
    gap = np.sum(((a / a.sum()).ravel() @ centres - (b / b.sum()).ravel() @ centres) ** 2)
    assert ot2_grid(a, b, max_iterations=1, max_inner=1).lower >= gap - 1e-10


def test_several_levels_agree_with_one():
    a, b = blobs(24)
    full = ot2_grid(a, b, coarsest=24, tol=1e-6, backend="highs")
    stacked = ot2_grid(a, b, coarsest=6, tol=1e-4)
    assert stacked.history["level"].max() == 2
    assert full.history["edges"].iloc[0] == 24**4
    assert stacked.lower <= full.upper * (1 + 1e-12)
    assert full.lower <= stacked.upper * (1 + 1e-12)


@pytest.mark.parametrize("keep_support", [True, False])
@pytest.mark.parametrize("neighbors", [4, 8])
def test_options_reach_the_tolerance(keep_support, neighbors):
    a, b = blobs(24, seed=1)
    result = ot2_grid(a, b, keep_support=keep_support, neighbors=neighbors, beta=0.5)
    assert result.rel_gap <= 1e-4


def test_swap_flip_and_scale():
    a, b = blobs(16, seed=2)
    result = ot2_grid(a, b)
    same = [
        ot2_grid(b, a),
        ot2_grid(a[::-1], b[::-1]),
        ot2_grid(np.rot90(a), np.rot90(b)),
        ot2_grid(3 * a, 0.5 * b),
    ]
    for other in same:
        assert other.lower <= result.upper
        assert result.lower <= other.upper
    scaled = ot2_grid(a, b, spacing=3.0)
    assert scaled.value == pytest.approx(9 * result.value, rel=2e-4)


def test_a_warm_start_saves_work():
    a, b = blobs(32, seed=3)
    cold = ot2_grid(a, b)
    again = ot2_grid(a, b, potentials=(cold.f, cold.g))
    near = ot2_grid(a + 0.01 * np.random.default_rng(0).random(a.shape), b, potentials=(cold.f, cold.g))
    work = [(r.history["edges"] * r.history["lp_iterations"]).sum() for r in (cold, again, near)]
    assert again.rel_gap <= 1e-4
    assert near.rel_gap <= 1e-4
    assert work[1] < work[0]
    assert work[2] < work[0]


def test_history_support_and_trace():
    a, b = blobs(32, seed=4)
    a[5:9, 3:20] = 0
    result = ot2_grid(a, b, trace=True)
    history = result.history
    assert list(history.columns) == list(HISTORY)
    assert list(history["level"].unique()) == [2, 1, 0]
    assert (history["edges"] <= 30 * history["pixels"])[history["level"] < 2].all()
    assert (np.diff(history["seconds"]) >= 0).all()
    assert len(result.support.rows) == history["edges"].iloc[-1]
    assert (a.flat[result.support.rows] > 0).all()
    assert set(np.unique(result.support.origin)) <= {0, 1, 2, 3}
    assert result.trace is not None
    assert set(result.trace["level"]) == {0, 1, 2}
    assert json.loads(json.dumps(result.certificate()))["upper"] == result.value


def test_bounds_rise_and_fall_within_a_level():
    a, b = blobs(32, seed=5)
    history = ot2_grid(a, b, tol=1e-12, max_iterations=60, max_inner=4).history
    for _, steps in history.groupby("level"):
        assert (np.diff(steps["lower"]) >= 0).all()
        assert (np.diff(steps["upper"]) <= 0).all()


def test_callback_sees_progress_and_may_stop():
    a, b = blobs(24, seed=6)
    seen = []
    ot2_grid(a, b, callback=lambda fraction, text: seen.append((fraction, text)))
    fractions = [fraction for fraction, _ in seen]
    assert all(0 <= fraction <= 1 for fraction in fractions)
    assert fractions[-1] == pytest.approx(1.0)

    def stop(fraction, text):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ot2_grid(a, b, callback=stop)


def test_map_and_interpolation():
    a = np.zeros((8, 9))
    a[1:3, 2:4] = [[1, 2], [3, 4]]
    b = np.roll(a, (4, 3), (0, 1))
    result = ot2_grid(a, b, spacing=(0.5, 2.0))
    targets = result.map()
    assert targets.shape == (8, 9, 2)
    assert np.isnan(targets[0, 0]).all()
    np.testing.assert_allclose(targets[1, 2], [0.5 * 5.5, 2.0 * 5.5])
    np.testing.assert_allclose(result.interpolate(0.0), a / a.sum(), atol=1e-15)
    np.testing.assert_allclose(result.interpolate(1.0), b / b.sum(), atol=1e-15)
    middle = result.interpolate(0.5)
    assert middle.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(middle[3, 3:6], np.array([0.5, 1.5, 1.0]) / 10)
    assert result.interpolate(0.5, (2, 2)).sum() == 0


def test_hierarchy_keeps_mass_and_pads():
    rng = np.random.default_rng(7)
    stack = hierarchy_grid(rng.random((37, 20)), rng.random((20, 50)), coarsest=8)
    assert [source.grid.shape for source, _ in stack] == [(37, 20), (19, 10), (10, 5)]
    assert [target.grid.shape for _, target in stack] == [(20, 50), (10, 25), (5, 13)]
    for source, target in stack:
        assert source.mass.sum() == pytest.approx(1.0)
        assert target.mass.sum() == pytest.approx(1.0)
    assert stack[1][0].mass.reshape(19, 10)[0, 0] == pytest.approx(stack[0][0].mass.reshape(37, 20)[:2, :2].sum())


def test_same_bits_for_any_number_of_threads_and_in_two_processes():
    code = (
        "import numpy as np; from workbench.methods.transport import ot2_grid;"
        "rng = np.random.default_rng(0); r = ot2_grid(rng.random((20, 20)), rng.random((20, 20)));"
        "print(r.value.hex(), r.lower.hex(), r.plan.nnz, float(r.f.sum()).hex())"
    )
    import os

    outputs = [
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "NUMBA_NUM_THREADS": threads},
            cwd=os.path.dirname(os.path.dirname(__import__("workbench").__file__)),
        ).stdout
        for threads in ("1", "2")
    ]
    assert outputs[0] == outputs[1]


A = np.ones((4, 4))


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"a": np.where(A, np.nan, 0)}, DataError, "a of shape \\(4, 4\\) has 16 values that are NaN"),
        ({"b": -A}, DataError, "b of shape \\(4, 4\\) has negative values"),
        ({"a": 0 * A}, DataError, "zero everywhere"),
        ({"a": np.ones((0, 3))}, DataError, "holds no pixel"),
        ({"a": np.ones((2, 2, 2, 2)), "b": np.ones((2, 2, 2, 2))}, DataError, "4 axes"),
        ({"a": np.ones(4)}, DataError, "equally many axes"),
        ({"a": np.float64(1), "b": np.float64(1)}, DataError, "0 axes"),
        ({"a": A.astype(complex)}, DataError, "real numbers"),
        ({"b": 2 * A, "normalize": False}, DataError, "a sums to 16, b to 32; .*normalize=True"),
        ({"spacing": 0}, ParameterError, "spacing=0"),
        ({"spacing": 1e99}, ParameterError, "1e-30 to 1e30"),
        ({"spacing": (1, 2, 3)}, ParameterError, "3 values for images of 2 axes"),
        ({"tol": float("nan")}, ParameterError, "tol=nan"),
        ({"backend": "simplex"}, ParameterError, "'pdhg' or 'highs'"),
        ({"neighbors": 5}, ParameterError, "neighbors=5"),
        ({"beta": -1}, ParameterError, "beta=-1"),
        ({"max_inner": 0}, ParameterError, "max_inner=0"),
        ({"potentials": (np.ones(3), A)}, DataError, "potentials of shapes"),
        ({"potentials": (A, A * np.inf)}, DataError, "finite"),
    ],
)
def test_wrong_calls_say_what_to_do(change, error, text):
    arguments = {"a": A, "b": A, **change}
    with pytest.raises(error, match=text):
        ot2_grid(arguments.pop("a"), arguments.pop("b"), **arguments)


def test_highs_copes_with_masses_far_below_its_tolerance():
    rng = np.random.default_rng(3)
    a, b = (rng.exponential(1, (12, 10)) ** 6 for _ in range(2))
    assert ot2_grid(a, b, backend="highs").rel_gap <= 1e-4


def test_masked_pixels_are_refused():
    masked = np.ma.masked_array(np.ones((4, 4)), mask=np.eye(4) > 0)
    with pytest.raises(DataError, match=r"a has masked pixels.*filled"):
        ot2_grid(masked, np.eye(4))
    assert ot2_grid(np.ma.masked_array(np.eye(4)), np.eye(4)).value == 0


def test_huge_values_do_not_overflow():
    assert ot2_grid(np.full((4, 4), 1e308), np.eye(4)).rel_gap <= 1e-4
