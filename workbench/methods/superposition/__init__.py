"""Temporal superposition in recurrent networks: training, exact losses, geometry; names load on first use."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.methods.superposition.amplitudes import AMPLITUDES as AMPLITUDES
    from workbench.methods.superposition.amplitudes import Amplitude as Amplitude
    from workbench.methods.superposition.amplitudes import amplitude_law as amplitude_law
    from workbench.methods.superposition.capacity import linear_capacity as linear_capacity
    from workbench.methods.superposition.channel_choice import KeptFeatures as KeptFeatures
    from workbench.methods.superposition.channel_choice import kept_features as kept_features
    from workbench.methods.superposition.diagnosis import Diagnosis as Diagnosis
    from workbench.methods.superposition.diagnosis import diagnose as diagnose
    from workbench.methods.superposition.dynamics import Descent as Descent
    from workbench.methods.superposition.dynamics import descend as descend
    from workbench.methods.superposition.exact_loss import LossTerms as LossTerms
    from workbench.methods.superposition.exact_loss import expected_loss as expected_loss
    from workbench.methods.superposition.exact_loss import loss_terms as loss_terms
    from workbench.methods.superposition.exact_loss import null_loss as null_loss
    from workbench.methods.superposition.model import DelayRecall as DelayRecall
    from workbench.methods.superposition.optimum import LinearOptimum as LinearOptimum
    from workbench.methods.superposition.optimum import optimal_linear as optimal_linear
    from workbench.methods.superposition.read_outs import Geometry as Geometry
    from workbench.methods.superposition.read_outs import angle_histogram as angle_histogram
    from workbench.methods.superposition.read_outs import geometry as geometry
    from workbench.methods.superposition.relu_loss import relu_loss_exact as relu_loss_exact
    from workbench.methods.superposition.sequences import delay_targets as delay_targets
    from workbench.methods.superposition.sequences import sparse_sequences as sparse_sequences
    from workbench.methods.superposition.sparse_limit import SpiralOptimum as SpiralOptimum
    from workbench.methods.superposition.sparse_limit import isotropic_kernel as isotropic_kernel
    from workbench.methods.superposition.sparse_limit import optimal_spiral as optimal_spiral
    from workbench.methods.superposition.sparse_limit import sparse_relu_loss as sparse_relu_loss
    from workbench.methods.superposition.toy_model import ToyModel as ToyModel
    from workbench.methods.superposition.toy_model import dimensions_per_feature as dimensions_per_feature
    from workbench.methods.superposition.toy_model import feature_dimensionality as feature_dimensionality
    from workbench.methods.superposition.toy_model import represented_features as represented_features
    from workbench.methods.superposition.toy_phases import PhaseDiagram as PhaseDiagram
    from workbench.methods.superposition.toy_phases import antipodal_boundary as antipodal_boundary
    from workbench.methods.superposition.toy_phases import antipodal_loss as antipodal_loss
    from workbench.methods.superposition.toy_phases import ignore_loss as ignore_loss
    from workbench.methods.superposition.toy_phases import phase_diagram as phase_diagram
    from workbench.methods.superposition.toy_phases import predict_phases as predict_phases
    from workbench.methods.superposition.toy_training import ToyFit as ToyFit
    from workbench.methods.superposition.toy_training import evaluate_toy as evaluate_toy
    from workbench.methods.superposition.toy_training import fit_toy as fit_toy
    from workbench.methods.superposition.training import FitResult as FitResult
    from workbench.methods.superposition.training import evaluate as evaluate
    from workbench.methods.superposition.training import fit as fit

_NAMES = {
    "AMPLITUDES": "amplitudes",
    "Amplitude": "amplitudes",
    "amplitude_law": "amplitudes",
    "linear_capacity": "capacity",
    "Diagnosis": "diagnosis",
    "diagnose": "diagnosis",
    "Descent": "dynamics",
    "descend": "dynamics",
    "LossTerms": "exact_loss",
    "expected_loss": "exact_loss",
    "loss_terms": "exact_loss",
    "null_loss": "exact_loss",
    "Geometry": "read_outs",
    "angle_histogram": "read_outs",
    "geometry": "read_outs",
    "KeptFeatures": "channel_choice",
    "kept_features": "channel_choice",
    "DelayRecall": "model",
    "LinearOptimum": "optimum",
    "optimal_linear": "optimum",
    "relu_loss_exact": "relu_loss",
    "delay_targets": "sequences",
    "sparse_sequences": "sequences",
    "SpiralOptimum": "sparse_limit",
    "isotropic_kernel": "sparse_limit",
    "optimal_spiral": "sparse_limit",
    "sparse_relu_loss": "sparse_limit",
    "ToyModel": "toy_model",
    "dimensions_per_feature": "toy_model",
    "feature_dimensionality": "toy_model",
    "represented_features": "toy_model",
    "PhaseDiagram": "toy_phases",
    "antipodal_boundary": "toy_phases",
    "antipodal_loss": "toy_phases",
    "ignore_loss": "toy_phases",
    "phase_diagram": "toy_phases",
    "predict_phases": "toy_phases",
    "ToyFit": "toy_training",
    "evaluate_toy": "toy_training",
    "fit_toy": "toy_training",
    "FitResult": "training",
    "evaluate": "training",
    "fit": "training",
}


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(importlib.import_module(f"{__name__}.{_NAMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_NAMES])
