import numpy as np
import pytest

from workbench.errors import ParameterError, RunError
from workbench.methods.superposition import _jit_dynamics
from workbench.methods.superposition.dynamics import descend
from workbench.methods.superposition.exact_loss import expected_loss, null_loss
from workbench.methods.superposition.model import DelayRecall
from workbench.methods.superposition.optimum import optimal_linear

CASES = [(1, 2, 3, True), (1, 2, 3, False), (3, 2, 1, True), (2, 3, 2, False), (2, 1, 0, True)]


def weights_of(features, hidden, k, tied):
    model = DelayRecall("linear", n_hidden=hidden, n_features=features, k=k, tied=tied).init(2, scale=0.4)
    return [model.W_x[0], model.W_h[0], np.zeros_like(model.W_x[0]) if tied else model.W_y[0]]


def loss_of(weights, k, tied, T, importance, p, mu, nu):
    features = weights[0].shape[1]
    model = DelayRecall("linear", len(weights[0]), features, k, tied, W_x=[weights[0]], W_h=[weights[1]],
                        W_y=None if tied else [weights[2]])  # fmt: skip
    loss = expected_loss(model.kernel(T - 1)[0], k, p=p, mu=mu, nu=nu, T=T, importance=importance)
    return loss / null_loss(k, p=p, nu=nu, T=T, importance=importance)


def gradient_of(weights, k, tied, T, importance, beta):
    slopes = [np.zeros_like(w) for w in weights]
    loss = _jit_dynamics.gradient(*weights, tied, k, T, beta, importance, *slopes)
    return loss, slopes


@pytest.mark.parametrize(("features", "hidden", "k", "tied"), CASES)
def test_gradient_equals_central_differences(features, hidden, k, tied):
    weights, importance, T, h = weights_of(features, hidden, k, tied), 0.7 ** np.arange(features), k + 4, 1e-6
    law = {"p": 0.3, "mu": 0.5, "nu": 1 / 3}
    loss, slopes = gradient_of(weights, k, tied, T, importance, 0.3 * 0.75)
    assert loss == pytest.approx(loss_of(weights, k, tied, T, importance, **law), rel=1e-12)
    for w, slope in zip(weights[: 2 if tied else 3], slopes, strict=False):
        for place in np.ndindex(w.shape):
            ends = []
            for step in (h, -h):
                w[place] += step
                ends.append(loss_of(weights, k, tied, T, importance, **law))
                w[place] -= step
            assert slope[place] == pytest.approx((ends[0] - ends[1]) / (2 * h), abs=1e-8, rel=1e-6)


@pytest.mark.parametrize(("features", "hidden", "k", "tied"), CASES)
def test_gradient_equals_automatic_differentiation(features, hidden, k, tied):
    torch = pytest.importorskip("torch")
    arrays, importance, T, beta = weights_of(features, hidden, k, tied), 0.7 ** np.arange(features), k + 4, 0.225
    W_x, W_h, W_y = (torch.tensor(w, requires_grad=True) for w in arrays)
    W = [W_x]
    for _ in range(T - 1):
        W.append(W_h @ W[-1])
    V, loss = W[k] if tied else W_y, torch.zeros((), dtype=torch.float64)
    for t in range(1, T + 1):
        C = torch.stack([V.T @ W[s] - torch.eye(features) * float(s == k and t > k) for s in range(t)])
        squares, sums = (C**2).sum(dim=(0, 2)), C.sum(dim=(0, 2))
        loss = loss + torch.tensor(importance) @ ((1 - beta) * squares + beta * sums**2)
    (loss / ((T - k) * importance.sum())).backward()
    _, slopes = gradient_of(arrays, k, tied, T, importance, beta)
    for tensor, slope in zip((W_x, W_h) if tied else (W_x, W_h, W_y), slopes, strict=False):
        assert np.allclose(tensor.grad.numpy(), slope, rtol=1e-10, atol=1e-12)


def small(n_models, **sizes):
    return DelayRecall("linear", n_models=n_models, **sizes).init(np.arange(n_models), scale=0.02)


@pytest.mark.parametrize("p", [1.0, 0.1])
def test_staircase_steps_on_the_optima_of_fewer_hidden_units(p):
    path = descend(small(3, k=4), p)
    one, two = (optimal_linear(4, n_hidden, p=p, mu=0.5, nu=1 / 3, T=16) for n_hidden in (1, 2))
    assert (np.diff(path.loss, axis=0) < 1e-12).all()
    assert np.allclose(path.loss[-1], two.loss, rtol=1e-6)
    assert np.allclose(path.kernel[-1], two.kernel, atol=1e-3)
    for m in range(3):
        level = int(np.argmin(abs(path.loss[:, m] - one.loss)))
        assert path.loss[level, m] == pytest.approx(one.loss, rel=2e-3)
        cosines = cosines_with_readout(path.at(level), m, 4)
        assert cosines.min() > 0.98
        assert cosines_with_readout(path.model, m, 4)[0] < 0


def test_directions_leave_the_readout_in_temporal_order():
    path = descend(small(3, k=4))
    for m in range(3):
        cosines = np.array([cosines_with_readout(path.at(r), m, 4) for r in range(len(path.steps))])
        left = [np.flatnonzero(cosines[:, s] < 0.95)[0] for s in range(3)]
        assert left == sorted(set(left))


def cosines_with_readout(model, m, k):
    W = model.impulse(k)[m, :, :, 0]
    return W @ W[k] / np.linalg.norm(W, axis=1) / np.linalg.norm(W[k])


@pytest.mark.parametrize("tied", [True, False])
def test_records_are_the_models_on_the_way(tied):
    model = DelayRecall("linear", n_features=2, k=1, tied=tied, n_models=2, importance=[1.0, 0.5]).init(1)
    path = descend(model, [0.2, 1.0], T=6, mu=0.3, nu=0.5, steps=10, records=5)
    assert path.steps.tolist() == [0, 2, 4, 6, 8, 10]
    assert path.kernel.shape == (6, 2, 6, 2, 2)
    assert (path.at(0).W_h == model.W_h).all()
    law = {"p": np.array([0.2, 1.0]), "nu": 0.5, "T": 6, "importance": [1.0, 0.5]}
    for r in (0, 3, 5):
        loss = expected_loss(path.at(r).kernel(5), 1, mu=0.3, **law) / null_loss(1, **law)
        assert np.allclose(path.loss[r], loss, rtol=1e-12)
        assert np.allclose(path.terms.total[r], loss, rtol=1e-9)
    assert (path.W_y is None) == tied


def test_a_model_alone_goes_the_same_way():
    crowd = small(3, k=2)
    together, alone = (descend(model, 0.5, steps=300, records=3) for model in (crowd, crowd.take(1)))
    assert (together.W_x[:, 1] == alone.W_x[:, 0]).all()
    assert (together.W_h[:, 1] == alone.W_h[:, 0]).all()


def test_small_and_static_cases():
    path = descend(DelayRecall("linear", n_hidden=1, k=0).init(0), steps=1, records=7)
    assert path.steps.tolist() == [0, 1]
    static = descend(DelayRecall("linear", n_hidden=1, k=0).init(0), steps=4000)
    assert static.loss[-1, 0] < 1e-3


def test_progress_is_told():
    told = []
    descend(small(1), steps=10, records=2, callback=lambda fraction, text: told.append((fraction, text)))
    assert told[-1] == (1.0, "step 10 of 10")


def test_divergence_names_the_models():
    model = DelayRecall("linear", k=1, n_models=2, W_x=[[[0.0], [0.0]], [[9.0], [9.0]]], W_h=np.zeros((2, 2, 2)))
    with pytest.raises(RunError, match=r"models \[1\]: take a smaller lr"):
        descend(model, lr=1.0, steps=1000, records=2)


@pytest.mark.parametrize(("seed", "steps"), [(26, 2), (14, 3), (35, 4)])
def test_finite_weights_of_an_endless_loss_have_diverged(seed, steps):
    start = DelayRecall("linear", k=8).init(seed)
    with pytest.raises(RunError, match=f"before step {steps} in the models"):
        descend(start, T=32, lr=0.03, steps=steps, records=1)


@pytest.mark.parametrize("size", [1e30, 1e60, 1e150])
def test_huge_weights_have_diverged(size):
    huge = DelayRecall("linear", k=1, W_x=[[[size], [0.0]]], W_h=[[[size, 0.0], [0.0, 0.0]]])
    with pytest.raises(RunError, match=r"models \[0\]"):
        descend(huge, T=4, steps=1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"p": 0.0}, "p = 0"),
        ({"T": 4}, "T = 4 .*at least k"),
        ({"lr": 0.0}, "lr = 0"),
        ({"lr": np.nan}, "lr = nan"),
        ({"steps": 0}, "steps = 0"),
        ({"records": 0}, "records = 0"),
        ({"nu": 0.1}, "raw second moment"),
        ({"model": DelayRecall("ssm")}, "kind 'ssm'.*'linear' only"),
    ],
)
def test_bad_input(change, words):
    with pytest.raises(ParameterError, match=words):
        descend(**({"model": small(1)} | change))
