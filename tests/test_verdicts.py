"""Every notebook runs at the quick preset, and its verdicts are those recorded here: a change is noticed."""

import pytest

from workbench.harness import claims, registry
from workbench.harness.job import Job
from workbench.harness.launch import launch
from workbench.harness.runner import Run

EXPECTED = {
    "superposition": {
        "loss_formula": "holds",
        "staircase": "holds",
        "first_aligned": "holds",
        "then_separate": "holds",
        "optimum_loss": "holds",
        "optimum_angle": "holds",
        "optimum_radius": "holds",
        "spiral_sink": "holds",
        "linear_steady": "holds",
        "dense_cone": "holds",
        "sparse_span": "holds",
        "abrupt_switch": "holds",
        "radius_drop": "holds",
        "nonlinear_free": "holds",
        "nonlinear_sharp": "holds",
        "nonlinear_dense": "holds",
        "all_or_none": "holds",
        "all_or_none_nonlinear": "fails",
        "fewer_with_delay": "holds",
        "many_at_once": "holds",
        "one_at_last": "holds",
        "most_important": "holds",
        "larger_networks": "holds",
        "larger_networks_entries": "holds",
    },
    "transport": {
        "certified": "holds",
        "worst_gap": "holds",
        "inner_iterations": "holds",
        "inner_trend": "holds",
        "support_size": "holds",
        "exact_value": "holds",
        "closed_form": "holds",
        "linear_time": "undecided",
    },
}


@pytest.mark.parametrize("name", registry.methods())
def test_the_notebook_runs_and_its_verdicts_are_those_recorded(name, tmp_path):
    work = Run(name, registry.get(name).params(), out=tmp_path)
    finished = launch(Job(work, notebook=True), on_event=lambda event: None)
    assert finished.notebook is not None and finished.notebook.stat().st_size < 2_000_000
    found = claims.from_json(finished.attributes["verdicts_json"])
    assert {item.claim: item.verdict for item in found} == EXPECTED[name], [(v.claim, v.value) for v in found]
