"""Computes percentiles of times from histograms. The bins are logarithmic, so histograms can be merged in any order."""
import numpy

# A bin is 1 % wide, so a percentile has an error of at most 0.5 %.
_WIDTH = numpy.log(1.01)


def bins_of(ns):
    return numpy.floor(numpy.log(numpy.maximum(ns, 1e-3)) / _WIDTH).astype(numpy.int32)


def percentile(bins, counts, share):
    """Returns the middle of the bin that holds a percentile (`share` 0.5: the median). `bins` must be ascending."""
    rank = share * (counts.sum() - 1)
    at = numpy.searchsorted(numpy.cumsum(counts), rank, side="right")
    return float(numpy.exp((bins[min(at, len(bins) - 1)] + 0.5) * _WIDTH))
