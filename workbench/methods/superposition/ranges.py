"""What the parameters of the recall task may be; each check names what was given, what is allowed and what to do."""

import math
import reprlib
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench.errors import DataError, ParameterError, WorkbenchError

LARGEST = 1e150  # entry of a kernel, whose square is still a number


def whole(name: str, value: object, least: int = 1) -> int:
    """Return `value` if it is a whole number of at least `least`.

    Raises
    ------
    ParameterError
        Otherwise.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ParameterError(f"{name} = {value!r} is not allowed: it takes a whole number, at least {least}")
    return int(value)


def is_number(value: Any) -> bool:
    """Return whether `value` is one real, finite number."""
    try:
        return isinstance(value, Real) and math.isfinite(value)
    except OverflowError:
        return False


def number(name: str, value: Any, *, least: float | None = None, above: float | None = None) -> float:
    """Return `value` if it is one finite number, of at least `least` or above `above` where they are given.

    Raises
    ------
    ParameterError
        Otherwise.
    """
    fits = is_number(value) and (least is None or value >= least) and (above is None or value > above)
    if not fits:
        bounds = f", at least {least:g}" if least is not None else f" above {above:g}" if above is not None else ""
        raise ParameterError(f"{name} = {value!r} is not allowed: it takes a finite number{bounds}")
    return float(value)


def flag(name: str, value: Any) -> bool:
    """Return `value` if it is True or False.

    Raises
    ------
    ParameterError
        Otherwise.
    """
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(f"{name} = {value!r} is not allowed: it takes True or False")
    return bool(value)


def places(which: Any, count: int) -> np.ndarray:
    """Return the places, among `count` models, that an index, slice, mask or array of them stands for.

    Raises
    ------
    ParameterError
        If it stands for none of them.
    """
    try:
        found = np.arange(count)[which].ravel()
    except (IndexError, TypeError, ValueError):
        found = np.empty(0)
    if not found.size:
        raise ParameterError(f"which = {which!r} is not allowed: it takes places 0 to {count - 1}, at least one")
    return found


def numbers(name: str, values: Any, error: type[WorkbenchError] = ParameterError) -> np.ndarray:
    """Return `values` as an array of real numbers, which may be nan or infinite.

    Raises
    ------
    WorkbenchError
        Of the type `error`, if they are text, complex, ragged or otherwise no real numbers.
    """
    try:
        given = np.asarray(values)
        if given.dtype.kind in "biufO":
            return np.asarray(given, float)
    except (TypeError, ValueError, OverflowError):
        pass
    shown = " ".join(reprlib.repr(values).split())
    raise error(f"{name} = {shown} is not allowed: it takes real numbers")


def horizon(T: int | None, k: int) -> int | None:
    """Return the length `T` of a sequence if a target of delay `k` falls into it, or None.

    Raises
    ------
    ParameterError
        If `T` is not a whole number above `k`.
    """
    if T is not None and whole("T", T, 1) <= k:
        raise ParameterError(f"T = {T} is not allowed for k = {k}: it takes at least k + 1 = {k + 1}")
    return None if T is None else int(T)


def activity(p: ArrayLike) -> np.ndarray:
    """Return the activity `p` as an array of numbers above 0 and at most 1.

    Raises
    ------
    ParameterError
        Otherwise.
    """
    p = numbers("p", p)
    allowed = (p > 0) & (p <= 1)
    if not allowed.all():
        wrong = p[~allowed].ravel()[0]
        raise ParameterError(f"p = {wrong:g} is not allowed: an input is active with probability 0 < p <= 1")
    return p


def activities(p: ArrayLike, count: int) -> np.ndarray:
    """Return one activity for each of `count` models.

    Raises
    ------
    ParameterError
        If a value is not above 0 and at most 1, or their number is neither 1 nor `count`.
    """
    p = activity(p)
    if p.shape not in ((), (count,)):
        raise ParameterError(f"p has shape {p.shape}: it takes one activity, or one for each of {count} models")
    return np.broadcast_to(p, (count,)).copy()


def moments(mu: ArrayLike, nu: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean `mu` and the raw second moment `nu` of the amplitudes as arrays.

    Raises
    ------
    ParameterError
        If they are not finite, `nu` is not positive, or ``mu^2 > nu``, which no law has.
    """
    mu, nu = numbers("mu", mu), numbers("nu", nu)
    if not (np.isfinite(mu).all() and np.isfinite(nu).all() and (nu > 0).all()):
        raise ParameterError(f"mu = {_shown(mu)}, nu = {_shown(nu)}: both must be finite, and nu above 0")
    if (np.abs(mu) > np.sqrt(nu) * (1 + 1e-12)).any():
        raise ParameterError(
            f"mu = {_shown(mu)}, nu = {_shown(nu)}: nu is the raw second moment E[u^2], at least mu^2; "
            "add mu^2 to a variance"
        )
    return mu, nu


def weights(importance: ArrayLike | None, n_features: int, error: type[WorkbenchError] = DataError) -> np.ndarray:
    """Return the importance of each of `n_features` features, ones if None.

    Raises
    ------
    WorkbenchError
        Of the type `error`, if there is not one finite number above 0 for each feature.
    """
    if importance is None:
        return np.ones(n_features)
    given = numbers("importance", importance, error)
    if given.shape != (n_features,):
        raise error(f"importance of shape {given.shape}: give one number for each of the {n_features} features")
    if not (np.isfinite(given).all() and (given > 0).all()):
        raise error(f"importance = {_shown(given)}: each must be finite and above 0")
    return given


def kernel(A: ArrayLike, k: int, T: int | None) -> np.ndarray:
    """Return a copy of the kernel `A` of shape (..., S, N_x, N_x): of T lags, or of at least k + 1 if `T` is None.

    Raises
    ------
    DataError
        If `A` is no such kernel, not finite, too large to be squared, or shorter than `T`.
    """
    A = numbers("A", A, DataError).copy()
    if A.ndim == 1:
        A = A[:, None, None]
    if A.ndim < 3 or A.shape[-1] != A.shape[-2] or 0 in A.shape[-3:]:
        raise DataError(f"A of shape {A.shape}: give a kernel of shape (S,) or (..., S, N_x, N_x), none of them 0")
    if not np.isfinite(A).all():
        raise DataError(f"A of shape {A.shape} holds values that are not finite: the model has diverged")
    if (np.abs(A) > LARGEST).any():
        raise DataError(f"A of shape {A.shape} holds values above {LARGEST:g}: the model has diverged")
    if T is None:
        return np.concatenate([A, np.zeros((*A.shape[:-3], max(0, k + 1 - A.shape[-3]), *A.shape[-2:]))], axis=-3)
    if A.shape[-3] < T:
        raise DataError(f"A has {A.shape[-3]} lags: the sum over T = {T} steps needs {T}")
    return A[..., :T, :, :]


def _shown(values: np.ndarray) -> str:
    return np.array2string(values, precision=6, threshold=8)
