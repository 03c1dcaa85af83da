"""Static pictures of the superposition study: each returns a figure and a caption with the numbers; the cover first."""

from collections.abc import Callable

import xarray as xr

from workbench.methods.superposition.cell_pictures import dead_networks, kept_features, kernel_matrices, phase_map
from workbench.methods.superposition.curve_pictures import against_optimum, loss_terms, phase_curves
from workbench.methods.superposition.direction_pictures import direction_angles, eigenvalues, kernels
from workbench.methods.superposition.plane_pictures import hidden_planes
from workbench.methods.superposition.shown import Drawn
from workbench.methods.superposition.staircase_pictures import staircase

FIGURES: tuple[Callable[[xr.Dataset], Drawn], ...] = (
    hidden_planes,
    phase_curves,
    phase_map,
    kernels,
    direction_angles,
    against_optimum,
    loss_terms,
    staircase,
    eigenvalues,
    dead_networks,
    kept_features,
    kernel_matrices,
)
