"""Laws of the inputs: a feature is active with probability p, and then has a random amplitude."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from workbench.errors import ParameterError, nearest


@dataclass(frozen=True)
class Amplitude:
    """The law of an active input's amplitude u.

    Attributes
    ----------
    name
        Its name.
    mean
        mu = E[u].
    second_moment
        nu = E[u²], the raw moment, not the variance.
    cdf
        Distribution function, of arrays.
    support
        Interval that holds all but at most 1e-12 of the law.
    code
        What compiled loops call it.
    """

    name: str
    mean: float
    second_moment: float
    cdf: Callable[[np.ndarray], np.ndarray]
    support: tuple[float, float]
    code: int

    @property
    def bounded(self) -> bool:
        """Whether the support holds the whole law, not only all but a little of it."""
        return float(self.cdf(np.array(self.support[1]))) == 1.0

    @property
    def signed(self) -> bool:
        """Whether amplitudes may be negative, which a ReLU readout cannot return."""
        return self.support[0] < 0


_LAWS = (
    Amplitude("uniform", 0.5, 1 / 3, lambda x: np.clip(x, 0.0, 1.0), (0.0, 1.0), 0),
    Amplitude("exponential", 1.0, 2.0, lambda x: -np.expm1(-np.maximum(x, 0.0)), (0.0, 28.0), 1),
    Amplitude("sign", 0.0, 1.0, lambda x: 0.5 * (x >= -1) + 0.5 * (x >= 1), (-1.0, 1.0), 2),
    Amplitude("gaussian", 0.0, 1.0, ndtr, (-7.2, 7.2), 3),
    Amplitude("constant", 1.0, 1.0, lambda x: 1.0 * (x >= 1), (1.0, 1.0), 4),
)
AMPLITUDES = {law.name: law for law in _LAWS}


def amplitude_law(name: str) -> Amplitude:
    """Return the law called `name`.

    Raises
    ------
    ParameterError
        If there is none; the message offers the nearest names.

    Examples
    --------
    >>> law = amplitude_law("uniform")
    >>> law.mean, round(law.second_moment, 4)
    (0.5, 0.3333)
    """
    if not isinstance(name, str) or name not in AMPLITUDES:
        raise ParameterError(f"amplitude = {name!r} is not a law{nearest(str(name), AMPLITUDES)}")
    return AMPLITUDES[name]
