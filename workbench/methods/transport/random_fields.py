"""Stationary Gaussian random fields with Matern covariance on a square grid, by circulant embedding.

The covariance at distance ``h`` (unit square) is, with ``t = c(nu) h / range``,

    C(h) = variance * 2^(1-nu) / Gamma(nu) * t^nu * K_nu(t)

where the factor ``c(nu)`` is a matter of convention (`SCALINGS`).
"""

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.special import gamma, kv

from workbench.errors import ParameterError, nearest

SCALINGS = {
    "handcock": lambda nu: 2 * math.sqrt(nu),
    "matern": lambda nu: math.sqrt(2 * nu),
    "whittle": lambda nu: 1.0,
}


def matern_covariance(
    distance: npt.ArrayLike, *, variance: float = 1.0, nu: float, scale: float, convention: str = "handcock"
) -> npt.NDArray[np.float64]:
    """Return the Matern covariance at each distance.

    Parameters
    ----------
    distance
        Distances in units of the square's side, any shape, at least 0.
    variance
        Covariance at distance 0.
    nu
        Smoothness, positive: the field has ``nu`` (mean-square) derivatives.
    scale
        Range, in the unit of `distance`.
    convention
        Factor of ``distance / scale``: ``"handcock"`` ``2 sqrt(nu)``, ``"matern"`` ``sqrt(2 nu)``, ``"whittle"`` 1.

    Raises
    ------
    ParameterError
        If the convention is unknown.

    Examples
    --------
    >>> matern_covariance([0.0, 0.4], nu=0.5, scale=0.4, convention="matern").round(4).tolist()
    [1.0, 0.3679]
    """
    if convention not in SCALINGS:
        raise ParameterError(f"matern = {convention!r} is not a convention{nearest(str(convention), SCALINGS)}")
    t = np.asarray(distance, dtype=np.float64) * (SCALINGS[convention](nu) / scale)
    with np.errstate(invalid="ignore"):
        values = variance * 2 ** (1 - nu) / gamma(nu) * t**nu * kv(nu, t)
    return np.where(t == 0, variance, values)


def gaussian_field(
    side: int, *, variance: float = 1.0, nu: float, scale: float, convention: str = "handcock", rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Return a sample of the Matern field on the pixel centres of the unit square.

    Parameters
    ----------
    side
        Pixels a side.
    variance, nu, scale, convention
        See `matern_covariance`.
    rng
        Source of the noise.

    Returns
    -------
    ndarray, shape (side, side)

    Notes
    -----
    White noise on a torus of twice the side is filtered by the root of the covariance's spectrum.
    Negative eigenvalues (long ranges) are clipped and the rest rescaled to keep the variance.
    Cost ``O(side^2 log side)``; the spectra of the last few fields are kept.

    Examples
    --------
    >>> gaussian_field(8, nu=1, scale=0.15, rng=np.random.default_rng(0)).shape
    (8, 8)
    """
    amplitude = _amplitude(side, float(variance), float(nu), float(scale), convention)
    noise = rng.standard_normal((2 * side, 2 * side))
    return np.fft.irfft2(np.fft.rfft2(noise) * amplitude, s=noise.shape)[:side, :side]


@lru_cache(maxsize=8)
def _amplitude(side: int, variance: float, nu: float, scale: float, convention: str) -> npt.NDArray[np.float64]:
    """Return the root of the torus covariance's eigenvalues, half spectrum."""
    lag = np.arange(side + 1)
    squares = np.add.outer(lag**2, lag**2)
    distinct, where = np.unique(squares, return_inverse=True)
    covariance = matern_covariance(
        np.sqrt(distinct) / side, variance=variance, nu=nu, scale=scale, convention=convention
    )
    quarter = covariance[where].reshape(squares.shape)
    torus = np.concatenate([quarter, quarter[-2:0:-1]])
    torus = np.concatenate([torus, torus[:, -2:0:-1]], axis=1)
    eigenvalues = np.fft.rfft2(torus).real.clip(min=0)
    weights = np.full(side + 1, 2.0)
    weights[[0, -1]] = 1.0
    kept = (eigenvalues * weights).sum() / torus.size
    return np.sqrt(eigenvalues * (variance / kept))
