"""The expected loss of a scalar model with linear recurrence and ReLU readout, at any activity, by convolution.

The answer is ``relu(z)``, ``z = sum_s a_s x_{t-s}``: a sum of independent variables, whose law on a lattice is a
product of Fourier transforms. A value between two points of the lattice is shared by them, so that means are kept;
"no input" lies on a point.
"""

import numpy as np
from numpy.fft import irfft, rfft
from numpy.typing import ArrayLike
from scipy.stats import binom

from workbench.errors import DataError, ParameterError
from workbench.methods.superposition import ranges
from workbench.methods.superposition.amplitudes import Amplitude, amplitude_law

NEGLIGIBLE = 1e-12  # chance that more inputs are active than the lattice of a bounded law has room for
SPREADS = 9.0  # standard deviations beyond the largest single input that the lattice of an unbounded law spans
MARGIN = 16  # of the lattice, one part in so many is kept free at either end: sharing moves a summand by one point


def relu_loss_exact(a: ArrayLike, k: int, *, p: float, amplitude: str = "uniform", points: int = 4096) -> float:
    """Return ``E (relu(z) - x_{t-k})^2`` of one step late in a sequence.

    Parameters
    ----------
    a
        Kernel ``a_s = w_y . w_s`` of shape (S,), zero beyond.
    k
        Delay in steps, at least 0.
    p
        Activity, ``0 < p <= 1``.
    amplitude
        Law of an active input: a name in `AMPLITUDES`.
    points
        Points of the lattice and of the law's discretisation, at least ``32 (S + 1)``.

    Returns
    -------
    float
        The loss in squared units of the input; divide by p nu for that of a model that answers 0 to be 1.

    Raises
    ------
    DataError
        If `a` is not a finite, non-empty kernel of one axis.
    ParameterError
        If `k`, `p`, `amplitude` or `points` is out of range.

    Notes
    -----
    A lattice of spacing h (the range of z over `points`) has an error of order h^2, which is extrapolated away
    with one of half the points: what is left is below 2e-5 of p nu for the laws with a density, S up to 20 and
    4096 points. Laws with atoms ("sign", "constant") keep an error of order h where answers pile up next to 0,
    the kink of the ReLU: up to 1e-4. Cost O(S points log(points)), some 5 ms for 16 lags.

    Examples
    --------
    >>> from workbench.methods.superposition.exact_loss import expected_loss
    >>> a = [0.1, 0.3, 0.8]  # nothing negative: the ReLU does nothing
    >>> round(relu_loss_exact(a, 2, p=0.3), 6), round(expected_loss(a, 2, p=0.3, mu=0.5, nu=1 / 3), 6)
    (0.01175, 0.01175)
    """
    a, law, activity = _checked(a, ranges.whole("k", k, 0)), amplitude_law(amplitude), ranges.activity(p)
    if activity.ndim:
        raise ParameterError(f"p has shape {activity.shape}: it takes one activity")
    p = float(activity)
    points = ranges.whole("points", points, 2 * MARGIN * (len(a) + 1))
    fine, coarse = (_convolved(a, k, p, law, n) for n in (points, points // 2))
    return fine + (fine - coarse) / 3


def _convolved(a: np.ndarray, k: int, p: float, law: Amplitude, points: int) -> float:
    """Return the loss on a lattice, up to an error of the order of its spacing squared."""
    nodes, masses = _discretised(law, points)
    step, value = _lattice(a, p, law, points)
    idle = (1 - p) * (np.arange(points) == 0)
    laws = [idle + p * _shared(a_s * nodes / step, masses, points) for a_s in a]
    others = np.prod([rfft(laws[s]) for s in range(len(a)) if s != k], axis=0)
    with_input = p * _shared(a[k] * nodes / step, masses * nodes, points)
    chance, correlation = (irfft(others * rfft(part), points) for part in (laws[k], with_input))
    answer = np.maximum(value, 0)
    return float(chance @ answer**2 - 2 * correlation @ answer + p * (masses @ nodes**2))


def _checked(a: ArrayLike, k: int) -> np.ndarray:
    a = ranges.numbers("a", a, DataError)
    if a.ndim != 1 or not len(a) or not np.isfinite(a).all():
        raise DataError(f"a of shape {a.shape}: give a finite kernel of one axis, not empty")
    return ranges.kernel(a, k, None)[:, 0, 0]


def _discretised(law: Amplitude, points: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes across the law's support, its ends among them, and the probability around each."""
    low, high = law.support
    nodes = np.linspace(low, high, points if high > low else 1)
    edges = np.concatenate([[-np.inf], (nodes[1:] + nodes[:-1]) / 2, [np.inf]])
    return nodes, np.diff(law.cdf(edges))


def _lattice(a: np.ndarray, p: float, law: Amplitude, points: int) -> tuple[float, np.ndarray]:
    """Return the spacing and the values of a cyclic lattice with 0 at index 0 that holds all but 1e-12 of z."""
    ends = np.sort(np.multiply.outer(a, law.support), axis=-1)
    low, high = np.minimum(ends[:, 0], 0), np.maximum(ends[:, 1], 0)
    if law.bounded:
        active = int(binom.isf(NEGLIGIBLE, len(a), p))
        bottom, top = np.sort(low)[:active].sum(), np.sort(high)[len(a) - active :].sum()
    else:
        mean = p * law.mean * a.sum()
        spread = SPREADS * np.sqrt((p * law.second_moment - (p * law.mean) ** 2) * np.sum(a**2))
        bottom = max(low.sum(), min(mean, 0) + low.min() - spread)
        top = min(high.sum(), max(mean, 0) + high.max() + spread)
    step = (top - bottom) / (points * (1 - 2 / MARGIN)) or 1.0
    index = np.arange(points)
    return step, step * np.where(index * step <= top + step * points / MARGIN, index, index - points)


def _shared(places: np.ndarray, masses: np.ndarray, points: int) -> np.ndarray:
    """Return the masses on the cyclic lattice, each shared by the two points next to its place."""
    below = np.floor(places)
    above, index = places - below, below.astype(int)
    near = np.bincount(index % points, masses * (1 - above), points)
    return near + np.bincount((index + 1) % points, masses * above, points)
