"""Percentiles of times that can be merged in any order: counts by logarithm."""
import numpy

# A bin is 1 % wide, so a percentile is off by at most half of that.
_WIDTH = numpy.log(1.01)


def bins_of(ns):
    return numpy.floor(numpy.log(numpy.maximum(ns, 1e-3)) / _WIDTH).astype(numpy.int32)


def percentile(bins, counts, share):
    """The middle of the bin of that rank. `bins` ascending."""
    rank = share * (counts.sum() - 1)
    at = numpy.searchsorted(numpy.cumsum(counts), rank, side="right")
    return float(numpy.exp((bins[min(at, len(bins) - 1)] + 0.5) * _WIDTH))
