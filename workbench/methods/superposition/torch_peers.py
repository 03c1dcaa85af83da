"""Delayed recall trained as one would write it in torch: what the benchmark times ours against.

Inputs of M networks are (M, N_x, T B), column t B + b: the B sequences of a step lie side by side, so that the
products with W_x and with the readout are one each for all steps.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from workbench.methods.superposition import _jit_recall
from workbench.methods.superposition.model import DelayRecall
from workbench.methods.superposition.numeric_peers import STARTS, Search, moments
from workbench.methods.superposition.task import make_task
from workbench.methods.superposition.training import CLIP, RATE

DESCENT = 300  # steps of Adam, enough for 1e-6


class StepByStep(nn.Module):
    """The networks of a model, all in one tensor, with its equations and a tied readout.

    Parameters
    ----------
    model
        The networks; the weights are copied.
    """

    def __init__(self, model: DelayRecall) -> None:
        super().__init__()
        self.W_x, self.W_h = (nn.Parameter(single(weights)) for weights in (model.W_x, model.W_h))
        self.k, self.relu_h = model.k, model.relu_h

    def forward(self, x: Tensor, batch: int) -> Tensor:
        """Return the outputs (M, N_x, T B) for inputs x of that shape, after a ReLU."""
        first, *others = (self.W_x @ x).split(batch, dim=2)
        states = [first]
        for driven in others:
            states.append(torch.baddbmm(driven, self.W_h, self._passed_on(states[-1])))
        return (self._readout().mT @ torch.cat(states, dim=2)).relu()

    def clip(self) -> None:
        """Shrink the gradient of each network to a norm of 10 at most."""
        gradients = [weights.grad for weights in self.parameters() if weights.grad is not None]
        norm = torch.stack([gradient.square().sum((1, 2)) for gradient in gradients]).sum(0).sqrt()
        for gradient in gradients:
            gradient.mul_((CLIP / norm).clamp(max=1.0)[:, None, None])

    def _passed_on(self, h: Tensor) -> Tensor:
        return h.relu() if self.relu_h else h

    def _readout(self) -> Tensor:
        direction = self.W_x
        for _ in range(self.k):
            direction = self.W_h @ self._passed_on(direction)
        return direction


class PlainRNN(nn.Module):
    """One network of torch's own RNN and a linear readout, the usual way in a notebook.

    Its state is the ReLU of the state of our nonlinear network. It has neither a linear recurrence nor a readout
    from before the ReLU; the arithmetic is as much.

    Parameters
    ----------
    model
        A single network, whose W_x and W_h are copied; the readout starts at W_k.
    """

    def __init__(self, model: DelayRecall) -> None:
        super().__init__()
        self.rnn = nn.RNN(model.n_features, model.n_hidden, nonlinearity="relu", bias=False)
        self.linear = nn.Linear(model.n_hidden, model.n_features, bias=False)
        given = (model.W_x[0], model.W_h[0], model.readout[0].T)
        with torch.no_grad():
            for weights, start in zip(self.parameters(), given, strict=True):
                weights.copy_(single(start))

    def states(self, x: Tensor, batch: int) -> Tensor:
        """Return the states (T, B, N_h) for inputs x (1, N_x, T B)."""
        return self.rnn(x.view(x.shape[1], -1, batch).permute(1, 2, 0))[0]

    def forward(self, x: Tensor, batch: int) -> Tensor:
        """Return the outputs (1, N_x, T B) for inputs x of that shape, after a ReLU."""
        return self.linear(self.states(x, batch)).relu().permute(2, 0, 1).reshape(x.shape)

    def clip(self) -> None:
        """Shrink the gradient to a norm of 10 at most."""
        nn.utils.clip_grad_norm_(self.parameters(), CLIP)


@dataclass(frozen=True, eq=False)
class Trained:
    """Networks after training, in the order of the model, and the loss (steps, M) of every batch over that of 0."""

    networks: Sequence[StepByStep | PlainRNN]
    loss: np.ndarray

    def weights(self) -> dict[str, np.ndarray]:
        """Return the weights by name, of all networks (M, ...) where they are `StepByStep`."""
        names = [name for name, _ in self.networks[0].named_parameters()]
        return {n: torch.cat([net.get_parameter(n).detach() for net in self.networks]).numpy() for n in names}


def train(
    networks: Sequence[StepByStep | PlainRNN],
    model: DelayRecall,
    p: np.ndarray,
    *,
    T: int,
    batch: int,
    steps: int,
    inputs: Iterable[np.ndarray] | None = None,
) -> Trained:
    """Train networks in turn at every step, by the recipe of `fit`.

    Parameters
    ----------
    networks
        All networks of the model in one, or one for each.
    model, p, T, batch, steps
        What `fit` takes.
    inputs
        The inputs (M, N_x, T B) of every step; drawn anew at every step by default.

    Returns
    -------
    Trained
    """
    generator = torch.Generator().manual_seed(0)
    scale = model.importance / (batch * make_task(model, p, T, "uniform", None).null[:, None])
    places = np.array_split(np.arange(model.n_models), len(networks))
    parts = [_Part.of(network, rows, p, scale) for network, rows in zip(networks, places, strict=True)]
    losses, given = [], iter(inputs or ())
    for step in range(steps):
        all_x = None if inputs is None else torch.from_numpy(next(given))
        rate = _jit_recall.falling_rate(RATE[model.kind], step, steps)
        for part in parts:
            shape = (len(part.rows), model.n_features, T * batch)
            x = _drawn(part.p, shape, generator) if all_x is None else all_x[part.rows]
            losses.append(part.step(x, model.k, batch, rate))
    return Trained(networks, torch.cat(losses).reshape(steps, -1).numpy())


@dataclass(frozen=True, eq=False)
class _Part:
    """Networks with an optimiser of their own: their places in the model, activities, and factors of the loss."""

    network: StepByStep | PlainRNN
    adam: torch.optim.Adam
    rows: np.ndarray
    p: Tensor
    scale: Tensor

    @classmethod
    def of(cls, network: StepByStep | PlainRNN, rows: np.ndarray, p: np.ndarray, scale: np.ndarray) -> "_Part":
        adam = torch.optim.Adam(network.parameters(), fused=True)
        return cls(network, adam, rows, single(p[rows])[:, None, None], single(scale[rows])[:, :, None])

    def step(self, x: Tensor, k: int, batch: int, rate: float) -> Tensor:
        """Take one step of training and return the loss of each network before it."""
        target = nn.functional.pad(x[..., : x.shape[2] - k * batch], (k * batch, 0))
        loss = (self.scale * (self.network(x, batch) - target).square()).sum((1, 2))
        self.adam.zero_grad(set_to_none=True)
        loss.sum().backward()
        self.network.clip()
        self.adam.param_groups[0]["lr"] = rate
        self.adam.step()
        return loss.detach()


def _drawn(p: Tensor, shape: tuple[int, int, int], generator: torch.Generator) -> Tensor:
    """Return inputs (M, N_x, T B): a uniform number below p makes one active, and over p gives its amplitude."""
    u = torch.rand(shape, generator=generator)
    return torch.where(u < p, u / p, 0.0)


def single(values: np.ndarray) -> Tensor:
    """Return a float32 copy of the values."""
    return torch.tensor(values, dtype=torch.float32)


def descended(given: Search, k: int) -> np.ndarray:
    """Return the least loss found by Adam over all weights, (activities,): all and all starts side by side."""
    T, N_h, rows = given.steps(k), given.n_hidden, STARTS * len(given.activities)
    generator = torch.Generator().manual_seed(0)
    W_h = 0.5 * torch.eye(N_h) + 0.3 / N_h**0.5 * torch.randn(rows, N_h, N_h, generator=generator).double()
    w_x, w_y = (0.3 * torch.randn(rows, *shape, generator=generator).double() for shape in ((N_h, 1), (1, N_h)))
    weights = [W_h.requires_grad_(), w_x.requires_grad_(), w_y.requires_grad_()]
    scaled = np.repeat([moments(p) for p in given.activities], STARTS, axis=0) / (T - k)
    variance, squared_mean = torch.from_numpy(scaled).T
    target = nn.functional.one_hot(torch.tensor(k), T).double()
    later = torch.arange(T, 0, -1).double()
    adam = torch.optim.Adam(weights, lr=0.05, fused=True)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(adam, DESCENT)
    losses = torch.zeros(rows)
    for _ in range(DESCENT):
        errors = _kernel(W_h, w_x, w_y, T) - target
        losses = variance * (errors.square() @ later) + squared_mean * errors.cumsum(1).square().sum(1)
        adam.zero_grad(set_to_none=True)
        losses.sum().backward()
        adam.step()
        cosine.step()
    return losses.detach().reshape(-1, STARTS).amin(1).numpy()


def _kernel(W_h: Tensor, w_x: Tensor, w_y: Tensor, T: int) -> Tensor:
    directions = [w_x]
    for _ in range(T - 1):
        directions.append(torch.bmm(W_h, directions[-1]))
    return torch.bmm(w_y, torch.cat(directions, dim=2))[:, 0]
