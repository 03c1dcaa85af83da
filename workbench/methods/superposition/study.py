"""The superposition study: phase curves, the way of training, and the features that networks keep."""

from typing import Any

import numpy as np
import xarray as xr

from workbench.errors import DataError
from workbench.harness.data import OwnData
from workbench.harness.progress import Progress, part
from workbench.methods.superposition.feature_choice import CHOOSERS, feature_variables, network_variables
from workbench.methods.superposition.phase_curves import curve_variables, optimum_variables, shown_delay, train_curves
from workbench.methods.superposition.spec import KINDS, Params
from workbench.methods.superposition.training import default_steps
from workbench.methods.superposition.training_path import SNAPSHOTS, path_variables

MOST_CHANNELS = 50


def run(params: Params, data: tuple[OwnData, ...] | None = None, *, progress: Progress | None = None) -> xr.Dataset:
    """Train all networks of the study and return one labelled dataset.

    Parameters
    ----------
    params
        The study's parameters.
    data
        An own series (time, channel), whose windows the networks with several features are trained on.
    progress
        Called with the fraction done and what is being done.

    Returns
    -------
    xarray.Dataset
        The table over architecture, delay, activity and restart with the exact optimum of linear networks,
        networks on the way of training, and what networks with several features keep at each delay.

    Raises
    ------
    DataError
        If the own series has too many channels or too few steps, or is not finite.
    """
    series = None if data is None else own_series(data, params)
    curves = train_curves(params, part(progress, 0.0, 0.5), snapshots=SNAPSHOTS)
    variables: dict[str, Any] = {
        **curve_variables(curves, params),
        **optimum_variables(params, part(progress, 0.5, 0.55)),
        **path_variables(curves, params),
        **feature_variables(params, series, part(progress, 0.55, 0.85)),
        **network_variables(params, part(progress, 0.85, 1.0)),
    }
    attrs = {"shown_delay": shown_delay(params), "own_data": data[0].name if data else ""}
    return xr.Dataset(variables, _coordinates(params, _names(params, data)), attrs)


def own_series(data: tuple[OwnData, ...], params: Params) -> np.ndarray:
    """Return the own series as numbers, (time, channel), refused where no network could be trained on it.

    Raises
    ------
    DataError
        If it is too wide, too short, not finite or all zero.
    """
    (own,) = data
    array = own.array
    if array is None:
        raise DataError(f"{own.name} is a folder: give one file with the series")
    series = np.asarray(array.values)
    if series.dtype.kind not in "biuf":
        raise DataError(f"{own.name} holds {series.dtype}: a series is numbers")
    series = series.astype(float)
    least = default_steps(max(params.feature_delays), series.shape[1]) + 1
    if series.shape[1] > MOST_CHANNELS:
        raise DataError(
            f"{own.name} has {series.shape[1]} channels: at most {MOST_CHANNELS} are taken; choose among them"
        )
    if len(series) < least:
        raise DataError(f"{own.name} has {len(series)} steps: at least {least} are needed at these delays")
    if not np.isfinite(series).all():
        missing = int((~np.isfinite(series)).sum())
        raise DataError(f"{own.name} has {missing} values that are missing or infinite: fill or cut the gaps")
    if not series.any():
        raise DataError(f"{own.name} is all zero: there is nothing to recall")
    return series


def _names(params: Params, data: tuple[OwnData, ...] | None) -> list[str]:
    """Return the features' names: letters, or what the own series calls its channels."""
    array = data[0].array if data else None
    if array is None:
        return [chr(ord("A") + i) if i < 26 else f"feature {i}" for i in range(params.features)]
    labels = array.coords["channel"].values if "channel" in array.coords else range(array.sizes["channel"])
    return [str(label) for label in labels]


def _coordinates(params: Params, features: list[str]) -> dict[str, Any]:
    return {
        "kind": ("kind", list(KINDS), {"long_name": "architecture"}),
        "delay": ("delay", params.delays, {"long_name": "delay k", "units": "steps"}),
        "activity": ("activity", params.activities, {"long_name": "activity p", "units": "1"}),
        "lag": ("lag", np.arange(2 * max(params.delays) + 1), {"long_name": "lag s", "units": "steps"}),
        "feature_kind": ("feature_kind", list(CHOOSERS), {"long_name": "architecture"}),
        "feature_delay": ("feature_delay", params.feature_delays, {"long_name": "delay k", "units": "steps"}),
        "feature": ("feature", features, {"long_name": "feature"}),
        "network": ("network", params.networks, {"long_name": "features x units of a larger network"}),
    }
