#!/usr/bin/env python3
"""Makes case folders (test/corpus/README.md) with PyTorch and ExecuTorch: python3 make_cases.py FOLDER [--only NAME]

Each model is lowered twice, with and without XNNPACK. The second case has the suffix _portable, and a few first ones
have the suffix _xnnpack.
"""
import argparse
import importlib.util
import json
import pathlib
import sys

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import ExecutorchProgramManager, to_edge_transform_and_lower
from torch import nn


class LinearRelu(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 5)

    def forward(self, x):
        return torch.relu(self.linear(x))


class AddMul(nn.Module):
    def forward(self, x, y):
        return (x + y) * y


class ConvReluTan(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)

    def forward(self, x):
        return torch.tan(torch.relu(self.conv(x)))


class Accumulator(nn.Module):
    """Adds each input to a buffer, so that calls depend on earlier ones."""

    def __init__(self):
        super().__init__()
        self.register_buffer('total', torch.zeros(4))

    def forward(self, x):
        self.total.add_(x)
        return self.total * 2


def encoder_layer():
    return nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)


def mobilenet():
    import torchvision
    model = torchvision.models.mobilenet_v2(weights=None)
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = 1.0  # the statistics become those of the next batch
    with torch.no_grad():
        model.train()(torch.randn(2, 3, 224, 224))  # without statistics, outputs are about 1e-13, and any result passes
    return model


# name | model | inputs of each call | dynamic shapes
CASES = {
    'add_mul': (AddMul, [[(2, 3), (2, 3)]], None),
    'linear_relu': (LinearRelu, [[(4, 16)]], None),
    'conv_relu_tan': (ConvReluTan, [[(1, 3, 16, 16)]], None),
    'dynamic_batch': (LinearRelu, [[(4, 16)], [(1, 16)], [(8, 16)]],
                      ({0: torch.export.Dim('batch', min=1, max=8)},)),
    'mutable_acc': (Accumulator, [[(4,)], [(4,)], [(4,)]], None),
    'lstm': (lambda: nn.LSTM(8, 16, batch_first=True), [[(1, 6, 8)]], None),
    'encoder_layer_sdpa': (encoder_layer, [[(1, 10, 32)]], None),
    'mv2': (mobilenet, [[(1, 3, 224, 224)]], None),
}
XNNPACK_SUFFIX = {'conv_relu_tan', 'dynamic_batch', 'mv2'}  # tests look for these cases with the suffix _xnnpack
HAS_ETRECORD = hasattr(ExecutorchProgramManager, 'get_etrecord')  # ExecuTorch 1.0 and later record the lowering
TOLERANCE = {'rtol': 1e-4, 'atol': 1e-4}


def describe(tensor, name, folder):
    tensor = tensor.detach()
    raw = tensor.contiguous().view(torch.uint8) if tensor.dim() else tensor.reshape(1).view(torch.uint8)
    (folder / name).write_bytes(raw.numpy().tobytes())
    return {'kind': 'tensor', 'file': name, 'dtype': str(tensor.dtype).removeprefix('torch.'),
            'shape': list(tensor.shape), 'dim_order': list(tensor.dim_order())}


def flatten(outputs):
    return torch.utils._pytree.tree_leaves(outputs)


def make_case(folder, name, program, model, calls, partitioner):
    folder.mkdir(parents=True, exist_ok=True)
    torch.export.save(program, folder / 'model.pt2')
    record = {'generate_etrecord': True} if HAS_ETRECORD else {}
    executorch = to_edge_transform_and_lower(program, partitioner=partitioner, **record).to_executorch()
    (folder / 'model.pte').write_bytes(executorch.buffer)
    if HAS_ETRECORD:
        executorch.get_etrecord().save(str(folder / 'etrecord.bin'))
    described = []
    for index, inputs in enumerate(calls):
        suffix = f'_c{index}' if index else ''
        with torch.no_grad():
            outputs = flatten(model(*[value.clone() for value in inputs]))
        described.append({
            'method': 'forward',
            'inputs': [describe(value, f'input_{i}{suffix}.bin', folder) for i, value in enumerate(inputs)],
            'outputs': [describe(value, f'expected_{i}{suffix}.bin', folder) for i, value in enumerate(outputs)]})
    case = {'name': name, 'torch': torch.__version__, 'tolerance': TOLERANCE, 'calls': described}
    (folder / 'case.json').write_text(json.dumps(case, indent=1) + '\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('folder', type=pathlib.Path)
    parser.add_argument('--only', choices=sorted(CASES))
    options = parser.parse_args()
    if not HAS_ETRECORD:
        print('this version of ExecuTorch makes no ETRecord here: the cases have no etrecord.bin', file=sys.stderr)
    for name, (make, shapes, dynamic_shapes) in CASES.items():
        if options.only not in (None, name):
            continue
        if make is mobilenet and not importlib.util.find_spec('torchvision'):
            print(f'{name}: skipped, because it needs torchvision (pip install torchvision)', file=sys.stderr)
            continue
        xnnpack_suffix = '_xnnpack' if name in XNNPACK_SUFFIX else ''
        for suffix, partitioner in ((xnnpack_suffix, [XnnpackPartitioner()]), ('_portable', [])):
            torch.manual_seed(1)  # the same weights and inputs in both cases
            model = make().eval()
            calls = [[torch.randn(shape) for shape in call] for call in shapes]
            program = torch.export.export(model, tuple(calls[0]), dynamic_shapes=dynamic_shapes)
            make_case(options.folder / (name + suffix), name + suffix, program, model, calls, partitioner)
            print(options.folder / (name + suffix))


if __name__ == '__main__':
    main()
