"""Parameters, claims and reference of the superposition study (ICLR 2026)."""

from collections.abc import Mapping
from typing import Any, ClassVar

from workbench.errors import ParameterError
from workbench.harness.claims import Claim, at_least, at_most, between
from workbench.harness.params import Params as BaseParams
from workbench.harness.params import param
from workbench.harness.registry import DataNeeds, Reference
from workbench.methods.superposition import measures

TITLE = "Temporal superposition in recurrent networks"
SUMMARY = "Small recurrent networks that must remember sparse inputs: where they keep them, and what they give up."

KINDS = ("linear", "ssm", "nonlinear")
AMPLITUDES = ("uniform", "exponential", "sign", "gaussian", "constant")
NETWORKS = ("10x2", "10x5", "10x10", "75x100")


class Params(BaseParams):
    """Parameters of the superposition study."""

    delays: list[int] = param([3, 4], "delays k of the phase curves", unit="steps", ge=1, le=12, min_length=1)
    activities: list[float] = param(
        [1.0, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01],
        "activities p of the phase curves: probability that an input is not zero",
        ge=1e-4,
        le=1,
        min_length=2,
    )
    amplitude: str = param("uniform", "law of an input that is not zero", choices=AMPLITUDES)
    restarts: int = param(6, "networks at each point of the phase curves", ge=1, le=200)
    steps: int = param(1500, "training steps", ge=10, le=10**6)
    batch: int = param(128, "sequences in a training step", ge=1, le=4096)
    features: int = param(5, "features of the networks that choose what to keep", ge=1, le=50)
    feature_delays: list[int] = param(
        [0, 1, 2, 3], "delays k of the networks that choose", unit="steps", ge=0, le=12, min_length=2
    )
    feature_activity: float = param(0.05, "activity p of each of several features", ge=1e-4, le=1)
    importance: float = param(0.7, "importance of each feature as a share of the one before", gt=0, le=1)
    feature_restarts: int = param(10, "networks at each delay of those that choose", ge=1, le=200)
    networks: list[str] = param(
        ["10x5"], "larger networks, features x hidden units, delay 2", choices=NETWORKS, min_length=1
    )
    shown: int = param(4, "delay k shown in the pictures", unit="steps", ge=1, le=12, protocol=False)
    seed: int = param(0, "seed of the weights and the inputs", ge=0, le=10**8, protocol=False)

    @classmethod
    def _checked(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        checked = super()._checked(values)
        for name, value in checked.items():
            if cls.fields()[name].is_list and len(set(value)) < len(value):
                raise ParameterError(f"{name} = {value!r} is not allowed: it takes each value once")
        return checked

    FULL: ClassVar[dict] = {
        "delays": [2, 3, 4, 5, 6, 7, 8],
        "activities": [
            1.0, 0.85, 0.7, 0.6, 0.5, 0.45, 0.4, 0.37, 0.35, 0.32, 0.3, 0.28, 0.26,
            0.24, 0.22, 0.2, 0.18, 0.16, 0.13, 0.1, 0.07, 0.05, 0.03, 0.02, 0.01,
        ],
        "restarts": 20,
        "steps": 4000,
        "feature_restarts": 40,
        "networks": list(NETWORKS),
    }  # fmt: skip


CLAIMS = (
    Claim(
        name="loss_formula",
        statement="The four terms give the loss of linear networks all along training: it differs from the "
        "simulated loss by at most 2 %",
        where="Eq. 5",
        paper="curves coincide",
        measure=measures.formula,
        bound=at_most(0.02),
    ),
    Claim(
        name="staircase",
        statement="Learning goes in steps: from small weights the loss of two units rests, where it is "
        "flattest, within 2 % of the optimum of one unit",
        where="learning dynamics",
        paper="stages",
        measure=measures.plateau_distance,
        bound=at_most(0.02),
    ),
    Claim(
        name="first_aligned",
        statement="While the loss rests at the optimum of one unit all directions are aligned with the "
        "readout: the cosine of w_s and w_k is at least 0.9 for every s < k",
        where="learning dynamics",
        paper="align first",
        measure=measures.plateau_alignment,
        bound=at_least(0.9),
    ),
    Claim(
        name="then_separate",
        statement="After that rest at the optimum of one unit directions leave the readout in temporal order, "
        "w_0 before w_1 before w_2, in at least 9 of 10 networks",
        where="learning dynamics",
        paper="separate in temporal order",
        measure=measures.ordered_separation,
        bound=at_least(0.9),
    ),
    Claim(
        name="optimum_loss",
        statement="Trained linear networks reach the exact optimum: their loss is within 2 % of it at every "
        "activity, k = 4",
        where="ours, against the exact optimum",
        paper="-",
        measure=lambda dataset: measures.largest_difference(dataset, "loss", relative=True),
        bound=at_most(0.02),
    ),
    Claim(
        name="optimum_angle",
        statement="Trained linear networks turn as the exact optimum does: k theta is within 1 degree of it at "
        "every activity, k = 4",
        where="ours, against the exact optimum",
        paper="-",
        measure=lambda dataset: measures.largest_difference(dataset, "ktheta"),
        bound=at_most(1.0),
    ),
    Claim(
        name="optimum_radius",
        statement="Trained linear networks shrink as the exact optimum does: the spectral radius is within "
        "0.005 of it at every activity, k = 4",
        where="ours, against the exact optimum",
        paper="-",
        measure=lambda dataset: measures.largest_difference(dataset, "rho"),
        bound=at_most(0.005),
    ),
    Claim(
        name="spiral_sink",
        statement="The best linear networks turn and shrink: W_h has a complex pair of eigenvalues of modulus "
        "below 1 at every activity, k = 4",
        where="Appendix D.2, D.3",
        paper="below 1, with rotation",
        measure=measures.linear_radius,
        bound=at_most(0.999),
    ),
    Claim(
        name="linear_steady",
        statement="Sparsity hardly turns a linear network: over the activities k theta varies by at most 30 "
        "degrees, k = 4",
        where="comparison of the architectures",
        paper="no transition",
        measure=measures.linear_range,
        bound=at_most(30),
    ),
    Claim(
        name="dense_cone",
        statement="With a ReLU readout and dense inputs the directions in use span a cone of about 90 degrees: "
        "k theta is 75 to 115 at p = 1, k = 4",
        where="dense regime",
        paper="about 90 degrees",
        measure=measures.dense_angle,
        bound=between(75, 115),
    ),
    Claim(
        name="sparse_span",
        statement="With a ReLU readout and sparse inputs the directions in use span about 270 degrees: k theta "
        "is 225 to 290 at every p <= 0.05, k = 4",
        where="sparse regime",
        paper="about 270 degrees",
        measure=measures.sparse_angle,
        bound=between(*measures.SPARSE_SPAN),
    ),
    Claim(
        name="abrupt_switch",
        statement="With a ReLU readout the switch between the two is abrupt: from one activity to the next k "
        "theta changes by 90 degrees or more, k = 4",
        where="phase transition",
        paper="abrupt",
        measure=measures.largest_jump,
        bound=at_least(90),
    ),
    Claim(
        name="radius_drop",
        statement="With a ReLU readout the spectral radius drops with sparsity: at every p <= 0.05 it is at "
        "least 0.08 below that at p = 1, k = 4",
        where="phase transition",
        paper="drops",
        measure=measures.radius_drop,
        bound=at_least(0.08),
    ),
    Claim(
        name="nonlinear_free",
        statement="A ReLU recurrence keeps every intermediate direction free of interference: a_s is at most "
        "0.1 a_k for every s < k and p <= 0.1, k = 3",
        where="nonlinear networks",
        paper="all in the free space",
        measure=measures.largest_intermediate,
        bound=at_most(0.1),
    ),
    Claim(
        name="nonlinear_sharp",
        statement="A ReLU recurrence forgets at once what was said: |w_{k+1}| is at most 0.05 |w_k| at every p "
        "<= 0.1, k = 3",
        where="nonlinear networks",
        paper="sharp forgetting",
        measure=measures.largest_remainder,
        bound=at_most(0.05),
    ),
    Claim(
        name="nonlinear_dense",
        statement="A ReLU recurrence forgets smoothly when inputs are dense: |w_{k+1}| is at least 0.4 |w_k| "
        "at p = 1, k = 3",
        where="nonlinear networks",
        paper="smooth",
        measure=measures.dense_remainder,
        bound=at_least(0.4),
    ),
    Claim(
        name="all_or_none",
        statement="With a ReLU readout a feature is kept whole or not at all: every entry of diag A_k is "
        "within 0.15 of 0 or 1, at every delay",
        where="several features",
        paper="all or none",
        measure=lambda dataset: measures.half_kept(dataset, "ssm"),
        bound=at_most(0.15),
    ),
    Claim(
        name="all_or_none_nonlinear",
        statement="With a ReLU recurrence too a feature is kept whole or not at all: every entry of diag A_k "
        "is within 0.15 of 0 or 1, at every delay",
        where="several features",
        paper="all or none",
        measure=lambda dataset: measures.half_kept(dataset, "nonlinear"),
        bound=at_most(0.15),
    ),
    Claim(
        name="fewer_with_delay",
        statement="A longer delay never lets more features be kept: their number rises at no step from one "
        "delay to the next",
        where="several features",
        paper="A, B, C at k = 1, only A for larger k",
        measure=measures.most_gained,
        bound=at_most(0),
    ),
    Claim(
        name="many_at_once",
        statement="Without delay two units keep three features or more (superposition)",
        where="ours, after Elhage et al. (2022)",
        paper="-",
        measure=measures.kept_at_once,
        bound=at_least(3),
    ),
    Claim(
        name="one_at_last",
        statement="At delay 3 two units keep one feature, no more and no fewer",
        where="several features",
        paper="only A",
        measure=measures.kept_longest,
        bound=between(1, 1),
    ),
    Claim(
        name="most_important",
        statement="The most important feature is kept at every delay: its entry of diag A_k is at least 0.5",
        where="several features",
        paper="A is always kept",
        measure=measures.first_feature,
        bound=at_least(0.5),
    ),
    Claim(
        name="larger_networks",
        statement="Larger networks hide all lags but k from the readout, on average: all features together add "
        "at most 0.05 of a kept feature to an output at any s != k, delay 2",
        where="higher dimensions",
        paper="diag A_k positive, the rest at most 0",
        measure=measures.together_elsewhere,
        bound=at_most(0.05),
    ),
    Claim(
        name="larger_networks_entries",
        statement="Larger networks read as positive nothing but diag A_k: no other entry of A_s is above 0.1 "
        "of a kept feature, delay 2",
        where="higher dimensions",
        paper="diag A_k positive, the rest at most 0",
        measure=measures.largest_elsewhere,
        bound=at_most(0.1),
    ),
)

REFERENCE = Reference(
    title="Temporal superposition and feature geometry of RNNs under memory demands",
    authors=("Pratyaksh Sharma", "Alexandra Maria Proca", "Lucas Prieto", "Pedro A. M. Mediano"),
    year=2026,
    identifier="OpenReview 7cMzTpbJHC",
    bibtex="""@inproceedings{sharma2026temporal,
  title     = {Temporal superposition and feature geometry of RNNs under memory demands},
  author    = {Sharma, Pratyaksh and Proca, Alexandra Maria and Prieto, Lucas and Mediano, Pedro A. M.},
  booktitle = {International Conference on Learning Representations},
  year      = {2026},
  url       = {https://openreview.net/forum?id=7cMzTpbJHC}
}""",
)

DATA = DataNeeds(
    what="a series of several channels, mostly zero: time runs down, a column is a channel; its windows take the place "
    "of the generated inputs for the networks that choose what to keep",
    count=(1, 1),
    dims=("time", "channel"),
    limits="1 to 50 channels, more steps than a training sequence has, finite, not all zero",
)
