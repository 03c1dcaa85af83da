"""Training of delayed-recall networks with torch: the inputs and steps of the compiled loops, by matrix products.

All networks are one batch. Inputs are (M, T, N_x, B), as the compiled streams draw them. A linear recurrence is a
convolution with its kernel A_s, which is one product with a block Toeplitz matrix; where that takes more work, and
through a ReLU, states follow one another step by step.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from workbench.errors import ParameterError
from workbench.harness.threads import limited
from workbench.methods.superposition import _jit_recall, _jit_sequences
from workbench.methods.superposition.model import DelayRecall
from workbench.methods.superposition.task import Task


def trainer(
    model: DelayRecall,
    weights: tuple[np.ndarray, ...],
    states: np.ndarray,
    task: Task,
    *,
    steps: int,
    batch: int,
    rate: float,
    clip: float,
    device: str | None = None,
    dtype: torch.dtype = torch.float32,
) -> Callable[[int, np.ndarray], None]:
    """Return ``advance(start, losses)``, which trains on from step `start` and writes losses and weights in place.

    Parameters
    ----------
    model
        Kind, sizes, delay and importance of the networks.
    weights
        W_x, W_h and the readout, (M, ...), written at the end of every call.
    states
        Random streams of the inputs, (M, 4).
    task
        Inputs and the loss of saying 0.
    steps, batch, rate, clip
        Steps in all, sequences in each, the learning rate of the first, and the longest gradient of a network.
    device
        Torch's device; the processor by default.
    dtype
        Precision of weights, inputs and states.

    Raises
    ------
    ParameterError
        If torch cannot use the device.

    Notes
    -----
    Cost O(M batch T N_h (N_h + N_x)) a step, or O(M batch T² N_x²) by convolution, whichever is less work; on one
    thread, or as many as `set_threads` was told.
    """
    place = _place(device or "cpu")
    moved = [torch.tensor(w, dtype=dtype, device=place) for w in weights[: 2 if model.tied else 3]]
    optimiser = _Adam([w.requires_grad_() for w in moved], clip)
    loss_of = _loss(model, task.T, moved)
    null = torch.tensor(batch * task.null, dtype=dtype, device=place)
    drawn = np.empty((model.n_models, task.T, model.n_features, batch), np.float32)

    def advance(start: int, losses: np.ndarray) -> None:
        told = torch.empty(losses.shape, dtype=dtype, device=place)
        with limited(None):
            for done in range(len(losses)):
                _jit_sequences.draw_all(drawn, task.p, task.code, task.series, states)
                x = torch.tensor(drawn, dtype=dtype, device=place)
                now = _jit_recall.falling_rate(rate, start + done, steps)
                told[done] = optimiser.step(loss_of(x) / null, start + done + 1, now)
        losses[:] = told.cpu().numpy()
        for w, trained in zip(weights, moved, strict=False):
            w[:] = trained.detach().cpu().numpy()

    return advance


def _place(device: str) -> torch.device:
    try:
        return torch.empty(0, device=device).device
    except (RuntimeError, AssertionError) as error:
        raise ParameterError(f"device = {device!r} cannot be used here: {error}") from None


class _Adam:
    """Adam with a gradient clipped for every network apart; a network whose loss is not finite stops."""

    def __init__(self, weights: list[Tensor], clip: float) -> None:
        self.weights, self.clip = weights, clip
        self.means = [torch.zeros_like(w) for w in weights]
        self.squares = [torch.zeros_like(w) for w in weights]
        self.alive = torch.ones(len(weights[0]), dtype=torch.bool, device=weights[0].device)

    def step(self, loss: Tensor, number: int, rate: float) -> Tensor:
        """Take step `number` (from 1) down the losses (M,); return them, nan for networks that have stopped."""
        gradients = torch.autograd.grad(loss.sum(), self.weights)
        with torch.no_grad():
            size = torch.stack([g.square().sum((1, 2)) for g in gradients]).sum(0).sqrt()
            self.alive &= loss.isfinite() & size.isfinite()
            shrink = (self.clip / size).clamp(max=1.0)[:, None, None]
            for w, g, mean, square in zip(self.weights, gradients, self.means, self.squares, strict=True):
                slope = torch.where(self.alive[:, None, None], g * shrink, 0.0)
                mean.lerp_(slope, 0.1)
                square.lerp_(slope.square(), 0.001)
                change = mean / (1 - 0.9**number) / ((square / (1 - 0.999**number)).sqrt() + 1e-8)
                w -= torch.where(self.alive[:, None, None], rate * change, 0.0)
            return torch.where(self.alive, loss, torch.nan)


def _loss(model: DelayRecall, T: int, weights: list[Tensor]) -> Callable[[Tensor], Tensor]:
    """Return the function from inputs (M, T, N_x, B) to losses (M,) summed over steps and sequences."""
    k = model.k
    importance = torch.tensor(model.importance, dtype=weights[0].dtype, device=weights[0].device)[:, None]
    outputs = _convolved if convolves(model, T) else _stepped

    def loss_of(x: Tensor) -> Tensor:
        y = outputs(model, weights, x)
        if model.relu_y:
            y = y.relu()
        early, late = y[:, :k].square(), (y[:, k:] - x[:, : T - k]).square()
        return (importance * early).sum((1, 2, 3)) + (importance * late).sum((1, 2, 3))

    return loss_of


def convolves(model: DelayRecall, T: int) -> bool:
    """Return whether convolution with the kernel is less work than one step after the other."""
    N_h, N_x = model.n_hidden, model.n_features
    return not model.relu_h and T * N_x**2 <= N_h * (N_h + 2 * N_x)


def _convolved(model: DelayRecall, weights: list[Tensor], x: Tensor) -> Tensor:
    """Return what a linear recurrence says, before any ReLU, by its kernel A_s = W_y^T W_h^s W_x."""
    M, T, N_x, B = x.shape
    W = _impulse(model, weights, T - 1)
    readout = W[model.k] if model.tied else weights[2]
    A = readout.mT[:, None] @ torch.stack(W, dim=1)
    zero = torch.zeros_like(A[:, :1])
    steps = torch.arange(T, device=x.device)
    lags = steps[:, None] - steps
    blocks = torch.cat([A, zero], dim=1)[:, torch.where(lags < 0, T, lags)]  # (M, T, T, N_x, N_x)
    toeplitz = blocks.transpose(2, 3).reshape(M, T * N_x, T * N_x)
    return (toeplitz @ x.reshape(M, T * N_x, B)).view(M, T, N_x, B)


def _stepped(model: DelayRecall, weights: list[Tensor], x: Tensor) -> Tensor:
    """Return what networks say, before any ReLU, one step after the other."""
    W_x, W_h = weights[:2]
    readout = _impulse(model, weights, model.k)[-1] if model.tied else weights[2]
    driven = (W_x[:, None] @ x).unbind(1)
    h = [driven[0]]
    for into in driven[1:]:
        h.append(torch.baddbmm(into, W_h, h[-1].relu() if model.relu_h else h[-1]))
    return readout.mT[:, None] @ torch.stack(h, dim=1)


def _impulse(model: DelayRecall, weights: list[Tensor], S: int) -> list[Tensor]:
    """Return the feature directions W_0 .. W_S, each (M, N_h, N_x)."""
    W = [weights[0]]
    for _ in range(S):
        W.append(weights[1] @ (W[-1].relu() if model.relu_h else W[-1]))
    return W
