"""Three workloads: one that agrees with its peer, one that takes memory, one whose result is wrong."""

import numpy as np

from workbench.harness.benchmark import Workload


def _numbers():
    return np.arange(5.0)


def _total(numbers):
    return float(numbers.sum())


def _loop(numbers):
    return sum(float(number) for number in numbers)


def _bulky(numbers):
    return float(np.ones(12_000_000).sum())


def _differ(ours, peer):
    return f"{ours:g} is not {peer:g} + 1"


WORKLOADS = (
    Workload("total", "sums", _numbers, _total, _loop, "loop"),
    Workload("bulky", "sums", _numbers, _bulky),
    Workload("slow", "sums", _numbers, _total, _loop, "loop", quick=False),
    Workload("wrong", "sums", _numbers, _total, _loop, "loop", check=_differ),
)
