#!/usr/bin/env python3
"""Writes random functions that write through views as cases of corpus_check.

  writes.py FOLDER [--count 500] [--seed 1]
"""
import argparse
import os
import random
import warnings

import torch

from traced import Skipped, write_case

MAX_ELEMENTS = 400
SHAPES = ((3, 4), (2, 3, 4), (4, 4), (5,), (2, 2, 3))


def index_at(part, count):
    return min(int(part * count), count - 1)


# Functions of (tensor, dim, number in [0, 1)) that return a view. PyTorch may reject the arguments.
VIEWS = (
    lambda t, dim, part: t.select(dim, index_at(part, t.shape[dim])),
    lambda t, dim, part: t.narrow(dim, index_at(part, t.shape[dim]), 1),
    lambda t, dim, part: t[..., ::2],
    lambda t, dim, part: t[1:],
    lambda t, dim, part: t.view(-1),
    lambda t, dim, part: t.flatten(),
    lambda t, dim, part: t.transpose(dim, index_at(part, t.dim())),
    lambda t, dim, part: t.permute(*reversed(range(t.dim()))),
    lambda t, dim, part: t.unsqueeze(dim),
    lambda t, dim, part: t.squeeze(),
    lambda t, dim, part: t.diagonal(0, 0, 1),
    lambda t, dim, part: t.split(max(1, t.shape[dim] // 2), dim)[0],
    lambda t, dim, part: t.chunk(2, dim)[-1],
    lambda t, dim, part: t.unbind(dim)[index_at(part, t.shape[dim])],
    lambda t, dim, part: t.detach())

# Functions of (tensor, other tensor, number in [0, 1)) that write to the first tensor.
WRITES = (
    lambda t, other, part: t.add_(part), lambda t, other, part: t.sub_(part),
    lambda t, other, part: t.mul_(part + 0.5), lambda t, other, part: t.fill_(part),
    lambda t, other, part: t.zero_(), lambda t, other, part: t.relu_(),
    lambda t, other, part: t.sigmoid_(), lambda t, other, part: t.neg_(),
    lambda t, other, part: t.clamp_(-0.5, 0.5),
    lambda t, other, part: t.copy_(other.clone()), lambda t, other, part: t.add_(other.clone()),
    lambda t, other, part: t.masked_fill_(t > 0, part),
    lambda t, other, part: t.__setitem__(0, part),
    lambda t, other, part: t.__setitem__(torch.tensor([0, t.shape[0] - 1]), part))

READS = (
    lambda t: t + 0.25, lambda t: t * t, lambda t: t.sum(-1), lambda t: torch.cat([t, t]),
    lambda t: t.relu(), lambda t: t.clone())


def fits(other, tensor):
    try:
        return torch.broadcast_shapes(other.shape, tensor.shape) == tensor.shape
    except RuntimeError:
        return False


def run(steps, x, y):
    tensors = [x.clone(), y.clone() * 2]
    for kind, which, first, second, third in steps:
        tensor = tensors[index_at(which, len(tensors))]
        if tensor.dim() == 0:
            continue
        try:
            if kind < 0.4:
                view = VIEWS[index_at(first, len(VIEWS))]
                made = view(tensor, index_at(second, tensor.dim()), third)
            elif kind < 0.8:
                other = tensors[index_at(second, len(tensors))]
                if fits(other, tensor):
                    WRITES[index_at(first, len(WRITES))](tensor, other, third)
                continue
            else:
                made = READS[index_at(first, len(READS))](tensor)
        except (RuntimeError, IndexError):
            continue
        if 0 < made.numel() <= MAX_ELEMENTS:
            tensors.append(made)
    return tuple(tensor + 0 for tensor in tensors[:2] + tensors[-6:])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.manual_seed(options.seed)
    random.seed(options.seed)
    for i in range(options.count):
        shape = random.choice(SHAPES)
        inputs = [torch.randn(shape), torch.randn(random.choice((shape, shape[-1:])))]
        steps = [[random.random() for _ in range(5)] for _ in range(random.randint(3, 12))]
        # Some traces crash the process, so each trace runs in a child process.
        child = os.fork()
        if child == 0:
            try:
                write_case(f"{options.folder}/writes_{i}", lambda x, y: run(steps, x, y), [inputs])
            except (Skipped, RuntimeError):
                pass
            os._exit(0)
        os.waitpid(child, 0)
    print(f"{len(os.listdir(options.folder))} cases")


if __name__ == "__main__":
    main()
