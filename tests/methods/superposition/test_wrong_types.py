"""Values of wrong types, in a process of its own: in this one annotations are checked and would refuse them first."""

import subprocess
import sys

SCRIPT = """
import numpy as np
from workbench import superposition as s
from workbench.errors import DataError, ParameterError
from workbench.methods.superposition.explore import explore
from workbench.methods.superposition.hidden_plane import plane

no_numbers = ["a", "3", [[1], [1, 2]], 1j, np.array([1j, 2]), {}, np.array(["1"]), 10**400, np.datetime64("2020")]
no_number = ["a", [0.5], 1j, float("nan"), np.ones(2)]
series = np.eye(30)[:, :2]
calls = {
    "A": lambda wrong: s.expected_loss(wrong, 1, p=0.5, mu=0.5, nu=1 / 3),
    "p": lambda wrong: s.expected_loss([0.5, 1.0], 1, p=wrong, mu=0.5, nu=1 / 3),
    "mu": lambda wrong: s.loss_terms([0.5, 1.0], 1, p=0.5, mu=wrong, nu=1 / 3),
    "nu": lambda wrong: s.loss_terms([0.5, 1.0], 1, p=0.5, mu=0.5, nu=wrong),
    "importance": lambda wrong: s.null_loss(1, p=0.5, nu=1.0, importance=wrong),
    "A ": lambda wrong: s.sparse_relu_loss(wrong, 1),
    "a": lambda wrong: s.relu_loss_exact(wrong, 1, p=0.5),
    "W_h": lambda wrong: s.linear_capacity(wrong, [1.0], 3),
    "p ": lambda wrong: s.sparse_sequences(2, 3, p=wrong),
    "x": lambda wrong: s.delay_targets(wrong, 1),
    "importance ": lambda wrong: s.antipodal_loss(0.5, wrong),
    "angles": lambda wrong: s.angle_histogram(wrong),
    "W": lambda wrong: s.feature_dimensionality(wrong),
    "W_x": lambda wrong: s.DelayRecall(W_x=wrong, W_h=np.ones((1, 2, 2))),
    "the series": lambda wrong: s.fit(s.DelayRecall(), data=wrong),
}
cases = [(name, call, wrong) for name, call in calls.items() for wrong in no_numbers]
calls = {
    "scale": lambda wrong: s.DelayRecall().init(scale=wrong),
    "diagonal": lambda wrong: s.DelayRecall().init(diagonal=wrong),
    "scale ": lambda wrong: s.ToyModel(3, 2).init(scale=wrong),
    "lr": lambda wrong: s.fit_toy(s.ToyModel(3, 2), lr=wrong),
    "slack": lambda wrong: s.geometry(s.DelayRecall(), slack=wrong),
    "threshold": lambda wrong: s.diagnose(series, threshold=wrong),
    "r": lambda wrong: s.isotropic_kernel(2, wrong, 0.5, 5),
    "activity": lambda wrong: explore(activity=wrong),
    "kind": lambda wrong: s.DelayRecall(wrong),
    "tied": lambda wrong: s.DelayRecall(tied=wrong),
    "bias": lambda wrong: s.ToyModel(3, 2, bias=wrong),
    "bins": lambda wrong: s.angle_histogram(np.eye(2), bins=wrong),
    "basis": lambda wrong: plane(s.DelayRecall(), wrong),
    "amplitude": lambda wrong: s.sparse_sequences(2, 3, p=0.5, amplitude=wrong),
    "seed": lambda wrong: s.evaluate_toy(s.ToyModel(3, 2), seed=wrong),
    "seed ": lambda wrong: s.phase_diagram([0.5], [1.0], seed=wrong, steps=10**6),
    "seed  ": lambda wrong: s.kept_features(series, 1, seed=wrong, steps=10**6),
    "T": lambda wrong: s.kept_features(series, 1, T=wrong, steps=10**6),
}
cases += [(name, call, wrong) for name, call in calls.items() for wrong in no_number]
cases += [("p", lambda wrong: s.relu_loss_exact([0.5, 1.0], 1, p=wrong), [0.5, 0.7])]
cases += [("names", lambda wrong: s.diagnose(series, names=wrong), 3)]
cases += [("delays", lambda wrong: s.kept_features(series, wrong), [[1], [1, 2]])]
cases += [("seed", lambda wrong: s.DelayRecall().init(wrong), [[1], [1, 2]])]
for name, call, wrong in cases:
    try:
        call(wrong)
    except (DataError, ParameterError) as error:
        if name.strip() not in str(error) or "\\n" in str(error):
            print(name, repr(wrong)[:40], "is told as", error)
    except Exception as error:
        print(name, repr(wrong)[:40], "leads to", repr(error)[:200])
    else:
        print(name, repr(wrong)[:40], "is taken")
"""


def test_wrong_types_are_told_in_one_line():
    ran = subprocess.run([sys.executable, "-W", "error", "-c", SCRIPT], capture_output=True, text=True, timeout=100)
    assert ran.stdout == ""
    assert ran.stderr == ""
