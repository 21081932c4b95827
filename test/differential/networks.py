#!/usr/bin/env python3
"""Writes random networks as cases of corpus_check.

  networks.py FOLDER [--count 500] [--seed 1] [--batches 2,3,5] [--channels-last]

With several batches, a case has a symbolic batch size and a call for each batch.
"""
import argparse
import random
import warnings

import torch
from torch import nn

from traced import Skipped, write_case

MAX_ELEMENTS = 20000
pick = random.choice
between = random.randint


def chance(probability):
    return random.random() < probability


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class Residual(nn.Module):
    def __init__(self, branch):
        super().__init__()
        self.branch = branch

    def forward(self, x):
        return x + self.branch(x)


class Joined(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        return torch.cat([branch(x) for branch in self.branches], 1)


class Gated(nn.Module):
    """A squeeze-and-excitation block."""

    def __init__(self, channels):
        super().__init__()
        self.squeeze = nn.Conv2d(channels, max(channels // 2, 1), 1)
        self.excite = nn.Conv2d(max(channels // 2, 1), channels, 1)

    def forward(self, x):
        means = x.mean((2, 3), keepdim=True)
        return x * torch.sigmoid(self.excite(torch.relu(self.squeeze(means))))


class Block(nn.Module):
    """A transformer block."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), activation(),
                                 nn.Linear(2 * width, width))

    def forward(self, x):
        _, length, width = x.shape
        q, k, v = (part.reshape(-1, length, self.heads, width // self.heads).transpose(1, 2)
                   for part in self.project(self.norm(x)).chunk(3, -1))
        scores = torch.softmax(q @ k.transpose(-2, -1) * (width // self.heads) ** -0.5, -1)
        x = x + self.out((scores @ v).transpose(1, 2).reshape(-1, length, width))
        return x + self.mlp(x)


class Recurrent(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = pick((nn.GRU, nn.LSTM, nn.RNN))(width, 5, pick((1, 2)), batch_first=True,
                                                     bidirectional=chance(0.5))

    def forward(self, x):
        return self.layer(x)[0]


def activation():
    return pick((nn.ReLU, nn.ReLU6, lambda: nn.Hardtanh(-0.7, 0.9), nn.Hardswish, nn.Hardsigmoid,
                 nn.SiLU, nn.GELU, lambda: nn.LeakyReLU(0.1), nn.PReLU, nn.Sigmoid, nn.Tanh,
                 nn.ELU, nn.Softplus, nn.Mish, nn.Softsign, nn.SELU, nn.Dropout))()


def trained(module):
    """Sets the running statistics of batch norms to plausible values."""
    for submodule in module.modules():
        if isinstance(submodule, (nn.BatchNorm1d, nn.BatchNorm2d)):
            submodule.running_mean.normal_(0, 0.5)
            submodule.running_var.uniform_(0.5, 2)
    return module


def convolution(channels):
    kernel = (between(1, 3), between(1, 3))
    return nn.Conv2d(channels, pick((1, 2, 4, 5, 8)), kernel, stride=(between(1, 2), between(1, 2)),
                     padding=(between(0, kernel[0] // 2), between(0, kernel[1] // 2)),
                     dilation=pick((1, 1, 2)), bias=chance(0.7),
                     padding_mode=pick(("zeros",) * 5 + ("reflect", "circular", "replicate")))


def transposed(channels):
    stride = between(1, 3)
    return nn.ConvTranspose2d(channels, pick((2, 4)), between(1, 4), stride=stride,
                              padding=pick((0, 0, 1)), output_padding=between(0, stride - 1),
                              groups=2 if channels % 2 == 0 and chance(0.4) else 1)


def max_pool(_):
    return nn.MaxPool2d(pick((2, 3, (2, 3))), stride=pick((None, 1, 2)), padding=pick((0, 0, 1)),
                        dilation=pick((1, 1, 1, 2)), ceil_mode=chance(0.3))


def average_pool(_):
    return nn.AvgPool2d(pick((2, 3)), stride=pick((None, 1, 2)), padding=pick((0, 1)),
                        count_include_pad=chance(0.5), ceil_mode=chance(0.3))


def resized(_):
    return nn.Upsample(scale_factor=pick((2, 1.5, 1.7, (2, 3))),
                       mode=pick(("nearest", "bilinear", "bilinear", "bicubic")))


def padded(_):
    return pick((nn.ZeroPad2d, nn.ReflectionPad2d, nn.ReplicationPad2d))(
        tuple(between(0, 2) for _ in range(4)))


FUNCTIONS = (
    lambda x: x * 0.5 + 1, lambda x: x.abs().sqrt(), lambda x: x[:, :, 1:, :-1],
    lambda x: torch.clamp(x, min=-0.2), lambda x: x.transpose(2, 3).contiguous(),
    lambda x: x - x.mean(1, keepdim=True), lambda x: torch.softmax(x, 1),
    lambda x: torch.softmax(x, -1), lambda x: x ** 2, lambda x: torch.exp(-x.abs()),
    lambda x: x.amax((2, 3), keepdim=True) + x, lambda x: x.max(3, keepdim=True)[0],
    lambda x: x / (1 + x * x), lambda x: x.chunk(2, 2)[0], torch.relu_, lambda x: x.add_(1),
    lambda x: x.permute(0, 1, 3, 2), lambda x: x.to(memory_format=torch.channels_last))

IMAGE_LAYERS = (
    convolution, convolution, transposed, max_pool, average_pool, resized, padded, Gated,
    lambda c: nn.Conv2d(c, c * pick((1, 2)), 3, padding=1, groups=c, stride=pick((1, 2))),
    lambda c: trained(nn.BatchNorm2d(c)), lambda c: nn.GroupNorm(1, c), lambda c: activation(),
    lambda c: Residual(nn.Sequential(nn.Conv2d(c, c, 3, padding=1), nn.ReLU())),
    lambda c: Joined([nn.Conv2d(c, between(1, 3), 1) for _ in range(between(2, 6))]),
    lambda c: nn.AdaptiveAvgPool2d(pick((1, 2, 3))), lambda c: Function(pick(FUNCTIONS)))

SIGNAL_LAYERS = (
    lambda c: nn.Conv1d(c, pick((2, 4)), between(1, 3), padding=pick((0, 1, "same"))),
    lambda c: nn.ConvTranspose1d(c, 3, 3, stride=2), lambda c: trained(nn.BatchNorm1d(c)),
    lambda c: nn.Conv1d(c, c, 3, groups=c, padding=1), lambda c: nn.AvgPool1d(2, ceil_mode=True),
    lambda c: nn.MaxPool1d(2), lambda c: nn.AdaptiveMaxPool1d(3), lambda c: activation(),
    lambda c: nn.InstanceNorm1d(c, affine=True), lambda c: nn.LocalResponseNorm(2),
    lambda c: nn.Upsample(scale_factor=2, mode="linear"))


def grown(layers, makers, x, max_layers):
    """Appends random layers that accept the result of the layer before."""
    for _ in range(between(1, max_layers)):
        try:
            layer = pick(makers)(x.shape[1]).eval()
            with torch.no_grad():
                result = layer(x.clone())
        except (RuntimeError, ValueError):
            continue
        if 0 < result.numel() <= MAX_ELEMENTS and result.dim() == x.dim():
            layers.append(layer)
            x = result
    return layers, x


def image_network(channels_last):
    x = torch.randn(2, pick((1, 2, 3, 4, 8)), between(7, 18), between(7, 18))
    first = [Function(lambda x: x.to(memory_format=torch.channels_last))] if channels_last else []
    layers, result = grown(first, IMAGE_LAYERS, x, 7)
    if chance(0.5):
        layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(result.shape[1], between(1, 7))]
    return nn.Sequential(*layers), x


def signal_network(_):
    x = torch.randn(2, pick((1, 3, 4)), between(8, 24))
    layers, result = grown([], SIGNAL_LAYERS, x, 6)
    if chance(0.4):
        layers.append(nn.Linear(result.shape[-1], 4))
    return nn.Sequential(*layers), x


def sequence_network(_):
    width = pick((4, 8, 12))
    layers = [pick((lambda: Block(width, pick((1, 2, 4))), lambda: Recurrent(width),
                    lambda: nn.TransformerEncoderLayer(width, 2, 16, batch_first=True)))()]
    if chance(0.3):
        layers.insert(0, Block(width, 2))
    return nn.Sequential(*layers), torch.randn(2, between(2, 7), width)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batches", default="2")
    parser.add_argument("--channels-last", action="store_true", help="images are in channels-last order")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.manual_seed(options.seed)
    random.seed(options.seed)
    batches = [int(text) for text in options.batches.split(",")]
    written = 0
    for i in range(options.count):
        make = pick((image_network, image_network, signal_network, sequence_network))
        network, x = make(options.channels_last)
        network.eval().requires_grad_(False)
        calls = [[torch.randn(batch, *x.shape[1:])] for batch in batches]
        try:
            write_case(f"{options.folder}/{make.__name__}_{i}", lambda x: network(x), calls)
            written += 1
        except (Skipped, RuntimeError):
            pass
    print(f"{written} cases")


if __name__ == "__main__":
    main()
