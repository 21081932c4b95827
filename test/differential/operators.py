#!/usr/bin/env python3
"""Writes the samples of PyTorch's operator tests as cases of corpus_check.

  operators.py FOLDER [--dtype float32] [--most 12] [--channels-last] [name ...]
"""
import argparse
import random
import sys
import types
import warnings

import torch

from traced import DTYPES, Skipped, write_case

# Replaces the package expecttest, which PyTorch's test helpers import but this script does not need.
sys.modules.setdefault("expecttest", types.SimpleNamespace(ACCEPT=False, TestCase=object))
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402

MAX_ELEMENTS = 20000


def separated(item, tensors, channels_last):
    """Moves the tensors of a sample to `tensors`. Returns a function that puts tensors back."""
    if isinstance(item, torch.Tensor):
        if item.dtype not in DTYPES or item.layout != torch.strided:
            raise Skipped("the dtype or layout of an input is not supported")
        if item.numel() > MAX_ELEMENTS:
            raise Skipped("an input is too large")
        item = item.detach().clone().contiguous()
        if channels_last and item.dim() == 4:
            item = item.to(memory_format=torch.channels_last)
        tensors.append(item)
        index = len(tensors) - 1
        return lambda given: given[index]
    if isinstance(item, (list, tuple)):
        parts = [separated(each, tensors, channels_last) for each in item]
        make = (lambda items: type(item)(*items)) if hasattr(item, "_fields") else type(item)
        return lambda given: make([part(given) for part in parts])
    if isinstance(item, dict):
        parts = {key: separated(each, tensors, channels_last) for key, each in item.items()}
        return lambda given: {key: part(given) for key, part in parts.items()}
    return lambda given: item


def write_sample(folder, operator, sample, channels_last, tolerance):
    tensors = []
    rebuild = separated((sample.input, sample.args, sample.kwargs), tensors, channels_last)
    if not tensors:
        raise Skipped("the sample has no tensors")

    def call(*given):
        first, args, kwargs = rebuild(given)
        result = operator(first, *args, **kwargs)
        return tuple(result) if isinstance(result, (list, tuple)) else result

    write_case(folder, call, [tensors], tolerance)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--most", type=int, default=12, help="maximum number of samples per operator")
    parser.add_argument("--channels-last", action="store_true", help="images are in channels-last order")
    parser.add_argument("names", nargs="*", help="operators; default: all")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.manual_seed(1)
    random.seed(1)
    dtype = getattr(torch, options.dtype)
    tolerance = {torch.float16: 4e-3, torch.bfloat16: 3e-2}.get(dtype, 1e-4)
    written = 0
    skipped = {}
    for info in op_db:
        name = "_".join(filter(None, (info.name, info.variant_test_name))).replace(".", "_")
        if options.names and info.name not in options.names:
            continue
        if dtype not in info.dtypes or name.startswith("jiterator"):
            continue
        samples = list(info.sample_inputs("cpu", dtype, requires_grad=False))
        random.shuffle(samples)
        for i, sample in enumerate(samples[:options.most]):
            try:
                write_sample(f"{options.folder}/{name}__{i}", info.op, sample,
                             options.channels_last, tolerance)
                written += 1
            except (Skipped, RuntimeError, TypeError) as why:
                skipped.setdefault(name, str(why).split("\n")[0])
    for name, why in skipped.items():
        print(f"{name}: skipped: {why}", file=sys.stderr)
    print(f"{written} cases")


if __name__ == "__main__":
    main()
