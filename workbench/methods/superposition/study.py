"""The superposition study: phase curves, the way of training, and the features that networks keep."""

from typing import Any

import numpy as np
import xarray as xr

from workbench.errors import DataError
from workbench.harness.data import OwnData
from workbench.harness.progress import Progress, part
from workbench.methods.superposition.diagnosis import diagnose
from workbench.methods.superposition.series import own_series
from workbench.methods.superposition.spec import KINDS, Params
from workbench.methods.superposition.study_curves import curve_variables, optimum_variables, shown_delay, train_curves
from workbench.methods.superposition.study_features import CHOOSERS, feature_variables, network_variables
from workbench.methods.superposition.study_labels import label
from workbench.methods.superposition.study_path import SNAPSHOTS, path_variables
from workbench.methods.superposition.study_staircase import descent_variables
from workbench.methods.superposition.task import default_steps

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
    series = own_inputs(data, params) if data else None
    curves = train_curves(params, part(progress, 0.0, 0.5), snapshots=SNAPSHOTS)
    variables: dict[str, Any] = {
        **curve_variables(curves, params),
        **optimum_variables(params, part(progress, 0.5, 0.55)),
        **path_variables(curves, params),
        **descent_variables(params, part(progress, 0.55, 0.6)),
        **feature_variables(params, series, part(progress, 0.6, 0.85)),
        **network_variables(params, part(progress, 0.85, 1.0)),
    }
    own, described = _own_variables(data, params) if data else ({}, {"own_data": "", "own_warnings": ""})
    attrs = {"shown_delay": shown_delay(params), **described}
    return xr.Dataset({**variables, **own}, _coordinates(params, _names(params, data)), attrs)


def own_inputs(data: tuple[OwnData, ...], params: Params) -> np.ndarray:
    """Return the own series (time, channel), each channel divided by its root mean square, so that units do not count.

    Raises
    ------
    DataError
        If it is too wide, too short, not finite numbers, or all zero.
    """
    (own,) = data
    if own.array is None:
        raise DataError(f"{own.name} is a folder: give one file with the series")
    channels = own.array.sizes["channel"]
    if channels > MOST_CHANNELS:
        raise DataError(f"{own.name} has {channels} channels: at most {MOST_CHANNELS} are taken; choose among them")
    least = default_steps(max(params.feature_delays), channels) + 1
    try:
        series = own_series(own.array.values, least=least)
    except DataError as error:
        raise DataError(f"{own.name}: {error}") from None
    size = np.sqrt(np.square(series).mean(axis=0))
    return series / np.where(size > 0, size, 1.0)


def _own_variables(data: tuple[OwnData, ...], params: Params) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the own series is like, as variables over its channels and as attributes."""
    (own,) = data
    found = diagnose(np.asarray(own.array), names=_names(params, data), max_lag=max(*params.feature_delays, 1))
    values = {"activity": found.p, "mean": found.mu, "second_moment": found.nu}
    labels = {"activity": "share of active values", "mean": "their mean", "second_moment": "their second moment"}
    variables = {f"own_{name}": ("feature", column, label(labels[name])) for name, column in values.items()}
    return variables, {"own_data": own.name, "own_warnings": "\n".join(found.warnings)}


def _names(params: Params, data: tuple[OwnData, ...] | None) -> tuple[str, ...]:
    """Return the features' names: letters, or what the own series calls its channels."""
    array = data[0].array if data else None
    if array is None:
        return tuple(chr(ord("A") + i) if i < 26 else f"feature {i}" for i in range(params.features))
    labels = array.coords["channel"].values if "channel" in array.coords else range(array.sizes["channel"])
    return tuple(str(label) for label in labels)


def _coordinates(params: Params, features: tuple[str, ...]) -> dict[str, Any]:
    return {
        "kind": ("kind", list(KINDS), {"long_name": "architecture"}),
        "delay": ("delay", params.delays, label("delay k", "steps")),
        "activity": ("activity", params.activities, label("activity p")),
        "lag": ("lag", np.arange(2 * max(params.delays) + 1), label("lag s", "steps")),
        "feature_kind": ("feature_kind", list(CHOOSERS), {"long_name": "architecture"}),
        "feature_delay": ("feature_delay", params.feature_delays, label("delay k", "steps")),
        "feature": ("feature", list(features), {"long_name": "feature"}),
        "network": ("network", params.networks, {"long_name": "features x units of a larger network"}),
    }
