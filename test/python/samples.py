"""Finds sample files. The first argument of a test is the folder of samples."""

import os
import sys

import numpy

SAMPLES = sys.argv.pop(1)


def sample(name, file="model.pte"):
    return os.path.join(SAMPLES, name, file)


def floats(name, file, shape):
    return numpy.fromfile(sample(name, file), numpy.float32).reshape(shape)
