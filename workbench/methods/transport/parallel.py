"""When to leave the other threads asleep."""

from collections.abc import Iterator
from contextlib import contextmanager

from numba import get_num_threads, set_num_threads


@contextmanager
def one_thread_if(small: bool) -> Iterator[None]:
    """Use one thread within, where waking the others would cost more than they do."""
    before = get_num_threads()
    if small:
        set_num_threads(1)
    try:
        yield
    finally:
        set_num_threads(before)
