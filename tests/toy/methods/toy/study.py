import os
import signal
import time
from pathlib import Path

import numpy as np
import xarray as xr

from workbench.errors import DataError
from workbench.harness.progress import silent


def run(params, data=None, *, progress=None):
    report = progress or silent
    for step in range(5):
        report(step / 5, f"step {step + 1} of 5")
        time.sleep(0.01)
    _fault(params.fault)
    numbers = np.random.default_rng(params.seed).random(params.count)
    scales = np.array(params.scales)
    return xr.Dataset(
        {
            "mean": ("scale", numbers.mean() * scales, {"long_name": "mean", "units": "1"}),
            "numbers": ("draw", numbers, {"long_name": "numbers drawn", "units": "1"}),
            "label": ("scale", [params.label] * scales.size, {"long_name": "label", "units": "1"}),
            "seconds": ((), time.perf_counter(), {"long_name": "clock", "units": "s", "volatile": 1}),
        },
        coords={"scale": ("scale", scales, {"long_name": "factor", "units": "1"})},
    )


def _fault(name):
    if name == "endless":
        Path("started").touch()
        while True:
            time.sleep(0.05)
    if name == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if name == "raise":
        raise ZeroDivisionError("nothing to divide by")
    if name == "refuse":
        raise DataError("an array of shape (0,) is empty: give at least one number")
