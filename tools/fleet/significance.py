"""Statistical tests of whether devices became slower."""
import math

import numpy


def signed_rank(differences):
    """Returns the one-sided p-value of Wilcoxon's signed-rank test that the median is above zero.

    Uses the normal approximation with corrections for ties and continuity. Zeros are left out. Returns 1 if
    fewer than ten differences are nonzero.
    """
    values = numpy.asarray(differences, dtype=float)
    values = values[values != 0]
    count = len(values)
    if count < 10:
        return 1.0
    magnitudes, groups, sizes = numpy.unique(
        numpy.abs(values), return_inverse=True, return_counts=True)
    del magnitudes
    ends = numpy.cumsum(sizes)
    ranks = (ends - (sizes - 1) / 2)[groups]  # ties share their mean rank
    positive = ranks[values > 0].sum()
    mean = count * (count + 1) / 4
    ties = float((sizes.astype(float) ** 3 - sizes).sum())
    variance = count * (count + 1) * (2 * count + 1) / 24 - ties / 48
    z = (positive - mean - 0.5) / math.sqrt(variance)
    return 0.5 * math.erfc(z / math.sqrt(2))


def false_discovery_rates(p_values):
    """Returns the adjusted p-values of Benjamini and Hochberg, in the order of `p_values`."""
    p = numpy.asarray(p_values, dtype=float)
    if len(p) == 0:
        return p
    order = numpy.argsort(p)
    adjusted = p[order] * len(p) / numpy.arange(1, len(p) + 1)
    adjusted = numpy.minimum.accumulate(adjusted[::-1])[::-1]
    result = numpy.empty_like(p)
    result[order] = numpy.minimum(adjusted, 1)
    return result
