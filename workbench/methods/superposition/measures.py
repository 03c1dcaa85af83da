"""What the claims measure on the study's dataset."""

import math
from typing import TYPE_CHECKING

import numpy as np

from workbench.harness.claims import Undecided

if TYPE_CHECKING:
    import xarray as xr

SWITCH_DELAY = 4
SHARP_DELAY = 3
SPARSE_SPAN = (225.0, 290.0)  # degrees


def _table(dataset: "xr.Dataset", delay: int) -> "xr.Dataset":
    """Return the phase table at one delay, activities falling from 1; undecided where it is not there."""
    if delay not in dataset["delay"].values:
        raise Undecided(f"needs delay {delay} among the delays")
    return dataset.sel(delay=delay).sortby("activity", ascending=False)


def _best(dataset: "xr.Dataset", name: str, kind: str, delay: int) -> "xr.DataArray":
    """Return a read-out of the best restart at each activity."""
    table = _table(dataset, delay).sel(kind=kind)
    return table[name].isel(restart=table["best"])


def _dense(values: "xr.DataArray") -> float:
    """Return the value at activity 1."""
    if 1.0 not in values["activity"].values:
        raise Undecided("needs activity 1 among the activities")
    return float(values.sel(activity=1.0))


def _sparse(values: "xr.DataArray", most: float) -> "xr.DataArray":
    """Return the values at activities up to `most`."""
    few = values.sel(activity=values["activity"] <= most)
    if not few.size:
        raise Undecided(f"needs an activity of at most {most:g}")
    return few


def formula(dataset: "xr.Dataset") -> float:
    """Return the largest relative difference between simulated and exact loss on the way of training."""
    exact, simulated = dataset["path_exact_loss"], dataset["path_simulated_loss"]
    return float(abs(simulated / exact - 1).max())


def largest_difference(dataset: "xr.Dataset", name: str, *, relative: bool = False) -> float:
    """Return the largest difference between trained linear networks and the exact optimum, over the activities."""
    trained = _best(dataset, name, "linear", SWITCH_DELAY)
    optimum = _table(dataset, SWITCH_DELAY)[f"optimum_{name}"]
    difference = trained / optimum - 1 if relative else trained - optimum
    return float(abs(difference).max(skipna=False))


def plateaus(dataset: "xr.Dataset") -> "xr.DataArray":
    """Return where the loss of a descent is flattest between its two falls, as a place along the descent.

    The falls are halfway from 1 to the optimum of one unit, and from there to the optimum of two.
    """
    loss, (one, two) = dataset["descent_loss"], dataset["descent_optimum"]
    if bool((loss.min("descent") > (one + two) / 2).any()):
        raise Undecided("a descent does not reach its second fall in the steps it is given")
    between = ((loss < (1 + one) / 2) & (loss > (one + two) / 2)).isel(descent=slice(1, None))
    return abs(loss.diff("descent")).where(between).fillna(math.inf).argmin("descent") + 1


def plateau_distance(dataset: "xr.Dataset") -> float:
    """Return the largest relative distance of the loss from the optimum of one unit, where it is flattest."""
    rest = dataset["descent_loss"].isel(descent=plateaus(dataset))
    return float(abs(rest / dataset["descent_optimum"].isel(descent_units=0) - 1).max())


def plateau_alignment(dataset: "xr.Dataset") -> float:
    """Return the least cosine of the angle between w_s and w_k, s < k, on the plateau."""
    return float(dataset["descent_cosine"].isel(descent=plateaus(dataset)).min())


def ordered_separation(dataset: "xr.Dataset") -> float:
    """Return the share of descents that turn w_0, w_1, w_2 by 20 degrees from w_k in this order, after the plateau."""
    cosine = dataset["descent_cosine"].isel(descent_lag=range(SWITCH_DELAY - 1))
    after = dataset["descent_step"] > dataset["descent_step"].isel(descent=plateaus(dataset))
    away = (cosine < math.cos(math.radians(20))) & after
    first = away.argmax("descent").where(away.any("descent"))
    return float((first.diff("descent_lag") > 0).all("descent_lag").mean())


def linear_radius(dataset: "xr.Dataset") -> float:
    """Return the largest spectral radius of the best linear networks; nan if one of them does not rotate."""
    turning = _best(dataset, "ktheta", "linear", SWITCH_DELAY)
    radius = _best(dataset, "rho", "linear", SWITCH_DELAY)
    return float(radius.where(turning.notnull()).max(skipna=False))


def linear_range(dataset: "xr.Dataset") -> float:
    """Return by how many degrees k theta of the best linear networks varies over the activities."""
    angles = _best(dataset, "ktheta", "linear", SWITCH_DELAY)
    return float(angles.max(skipna=False) - angles.min(skipna=False))


def dense_angle(dataset: "xr.Dataset") -> float:
    """Return k theta in degrees of the best network with a ReLU readout at activity 1."""
    return _dense(_best(dataset, "ktheta", "ssm", SWITCH_DELAY))


def sparse_angle(dataset: "xr.Dataset") -> float:
    """Return k theta in degrees at the activity up to 0.05 where it is farthest from the middle of `SPARSE_SPAN`."""
    angles = _sparse(_best(dataset, "ktheta", "ssm", SWITCH_DELAY), 0.05)
    if bool(angles.isnull().any()):
        return math.nan
    return float(max(angles.values, key=lambda angle: abs(angle - sum(SPARSE_SPAN) / 2)))


def largest_jump(dataset: "xr.Dataset") -> float:
    """Return the largest change of k theta in degrees between neighbouring activities, ReLU readout."""
    angles = _best(dataset, "ktheta", "ssm", SWITCH_DELAY)
    return float(abs(angles.diff("activity")).max())


def radius_drop(dataset: "xr.Dataset") -> float:
    """Return the spectral radius at activity 1 less the largest at activities up to 0.05, ReLU readout."""
    radius = _best(dataset, "rho", "ssm", SWITCH_DELAY)
    return _dense(radius) - float(_sparse(radius, 0.05).max())


def largest_intermediate(dataset: "xr.Dataset") -> float:
    """Return the largest a_s / a_k, s < k, of the best nonlinear networks at activities up to 0.1."""
    kernel = _sparse(_best(dataset, "kernel", "nonlinear", SHARP_DELAY), 0.1)
    share = kernel / kernel.sel(lag=SHARP_DELAY)
    return float(share.sel(lag=range(SHARP_DELAY)).max(skipna=False))


def largest_remainder(dataset: "xr.Dataset") -> float:
    """Return the largest |w_{k+1}| / |w_k| of the best nonlinear networks at activities up to 0.1."""
    return float(_sparse(_best(dataset, "sharpness", "nonlinear", SHARP_DELAY), 0.1).max(skipna=False))


def dense_remainder(dataset: "xr.Dataset") -> float:
    """Return |w_{k+1}| / |w_k| of the best nonlinear network at activity 1."""
    return _dense(_best(dataset, "sharpness", "nonlinear", SHARP_DELAY))


def _feature_recall(dataset: "xr.Dataset", kind: str) -> "xr.DataArray":
    """Return the diagonal of A_k of the best restart, over delay and feature."""
    chosen = dataset.sel(feature_kind=kind)
    return chosen["feature_recall"].isel(feature_restart=chosen["feature_best"])


def half_kept(dataset: "xr.Dataset", kind: str) -> float:
    """Return the largest distance of a diagonal entry of A_k from both 0 and 1."""
    recall = _feature_recall(dataset, kind)
    return float(abs(recall - (recall > 0.5)).max())


def _kept(dataset: "xr.Dataset", delay: int) -> "xr.DataArray":
    """Return how many features are kept at one delay, for both architectures."""
    kept = dataset["feature_kept"].isel(feature_restart=dataset["feature_best"])
    if delay not in kept["feature_delay"].values:
        raise Undecided(f"needs delay {delay} among the delays of the features")
    return kept.sel(feature_delay=delay)


def most_gained(dataset: "xr.Dataset") -> float:
    """Return the largest rise of the number of kept features from one delay to the next longer one."""
    kept = dataset["feature_kept"].isel(feature_restart=dataset["feature_best"]).sortby("feature_delay")
    return float(kept.diff("feature_delay").max())


def kept_at_once(dataset: "xr.Dataset") -> float:
    """Return how many features are kept without delay, the fewer of the two architectures."""
    return float(_kept(dataset, 0).min())


def kept_longest(dataset: "xr.Dataset") -> float:
    """Return the number of features kept at delay 3 that is farthest from one."""
    return float(max(_kept(dataset, 3).values, key=lambda count: abs(count - 1)))


def first_feature(dataset: "xr.Dataset") -> float:
    """Return the least recall of the first feature over delays and architectures."""
    return min(
        float(_feature_recall(dataset, str(kind)).isel(feature=0).min()) for kind in dataset["feature_kind"].values
    )


def together_elsewhere(dataset: "xr.Dataset") -> float:
    """Return what all features together add to an output at the lag s != k where it is most, mean over the outputs.

    It is the sum along a row of A_s, over the mean entry of a kept feature, the largest of all larger networks. The
    mean of all entries would fall with their number: a readout of the identity at every lag has 1 / N_x.
    """
    features = np.array([int(str(name).split("x")[0]) for name in dataset["network"].values])
    share = dataset["network_mean_elsewhere"] * features / dataset["network_kept_recall"]
    return float(share.max(skipna=False))


def largest_elsewhere(dataset: "xr.Dataset") -> float:
    """Return the largest entry of A_s outside diag A_k over the mean entry of a kept feature, all larger networks."""
    return float((dataset["network_largest_elsewhere"] / dataset["network_kept_recall"]).max(skipna=False))
