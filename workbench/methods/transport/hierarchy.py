"""The hierarchy of coarser images: sums over blocks of two pixels along each axis."""

import numpy as np

from workbench.methods.transport.geometry import Grid, Measure, check_spacing, measure

MOST_PAIRS = 2**20


def coarsen(fine: Measure, axes: tuple[bool, ...]) -> Measure:
    """Return the measure summed over blocks of two pixels along the chosen axes, padded with zero mass."""
    grid = fine.grid
    image = fine.mass.reshape(grid.shape)
    image = np.pad(image, [(0, n % 2 if halve else 0) for n, halve in zip(grid.shape, axes, strict=True)])
    for axis, halve in enumerate(axes):
        if halve:
            blocks = (*image.shape[:axis], image.shape[axis] // 2, 2, *image.shape[axis + 1 :])
            image = image.reshape(blocks).sum(axis=axis + 1)
    spacing = tuple(h * (2 if halve else 1) for h, halve in zip(grid.spacing, axes, strict=True))
    return Measure(Grid(image.shape, spacing), image.ravel())


def levels(source: Measure, target: Measure, coarsest: int) -> list[tuple[Measure, Measure]]:
    """Return the pairs of measures from the finest to the coarsest level.

    An axis is halved while one of the images is longer than one pixel along it; the last level is the one
    whose longest side would fall below `coarsest`, unless all its pairs of pixels are more than a million.
    """
    pairs = [(source, target)]
    while True:
        source, target = pairs[-1]
        longest = np.maximum(source.grid.shape, target.grid.shape)
        many = len(source.pixels) * len(target.pixels) > MOST_PAIRS
        if longest.max() == 1 or not (longest.max() // 2 >= coarsest or many):
            return pairs
        axes = tuple(bool(n > 1) for n in longest)
        pairs.append((coarsen(source, axes), coarsen(target, axes)))


def hierarchy_grid(
    a: np.ndarray, b: np.ndarray, *, spacing: float | tuple[float, ...] = 1.0, coarsest: int = 8
) -> list[tuple[Measure, Measure]]:
    """Return both images, scaled to total 1, at every level from the finest to the coarsest.

    Parameters
    ----------
    a, b
        Images of equally many axes; their shapes may differ.
    spacing
        Distance of neighbouring pixels of both images, one number or one per axis.
    coarsest
        Sides are halved while the longest stays at least this, in pixels, and further until the full
        problem of the last level has at most a million pairs.

    Returns
    -------
    list of (Measure, Measure)
        The finest level first. A coarse pixel is a block of two pixels along each axis (one where both images have
        one), ragged blocks padded with zero mass, and lies at the centre of its block.

    Notes
    -----
    Cost O(size). Xia et al., 2026, halve squares of even sides alone.

    Examples
    --------
    >>> [a.grid.shape for a, b in hierarchy_grid(np.ones((64, 30)), np.ones((64, 64)))]
    [(64, 30), (32, 15), (16, 8), (8, 4)]
    """
    a, b = np.asarray(a), np.asarray(b)
    each = check_spacing(spacing, a.ndim)
    return levels(measure(a, each, name="a"), measure(b, each, name="b"), coarsest)
