"""Writes calls and modules as cases of corpus_check, with a PyTorch that has no torch.export.

torch.jit.trace records the same ATen calls as torch.export before decomposition. This module runs each
call again to get the shapes and dtypes of its results, and writes all calls as a .pt2 archive, with
inputs and expected outputs. It raises Skipped for calls that a trace does not describe, or whose results
depend on data or on random numbers.
"""
import json
import math
import os
import zipfile

import torch

# Maps each torch.dtype to its number in .pt2 files (docs/formats) and its name in case.json.
DTYPES = {torch.uint8: (1, "uint8"), torch.int8: (2, "int8"), torch.int16: (3, "int16"),
          torch.int32: (4, "int32"), torch.int64: (5, "int64"), torch.float16: (6, "float16"),
          torch.float32: (7, "float32"), torch.float64: (8, "float64"), torch.bool: (12, "bool"),
          torch.bfloat16: (13, "bfloat16")}
# Dtypes and memory formats by their numbers in traces.
TRACED_DTYPES = {0: torch.uint8, 1: torch.int8, 2: torch.int16, 3: torch.int32, 4: torch.int64,
                 5: torch.float16, 6: torch.float32, 7: torch.float64, 11: torch.bool,
                 15: torch.bfloat16}
TRACED_FORMATS = {0: (torch.contiguous_format, 1), 1: (torch.preserve_format, 4),
                  2: (torch.channels_last, 2), 3: (torch.channels_last_3d, 3)}
RANDOM = {"rand", "randn", "randint", "bernoulli", "normal", "uniform", "multinomial", "rand_like",
          "randn_like", "randint_like", "exponential", "dropout"}
UNDEFINED = {"empty", "empty_like", "new_empty", "new_empty_strided"}
NUMBERS = {"aten::Int", "aten::Float", "aten::Bool", "aten::ScalarImplicit", "aten::IntImplicit",
           "aten::FloatImplicit", "prim::NumToTensor"}


class Skipped(Exception):
    pass


class Value:
    """A named tensor of the graph."""

    def __init__(self, name, tensor):
        if tensor.dtype not in DTYPES or tensor.layout != torch.strided:
            raise Skipped(f"{tensor.dtype}, {tensor.layout}")
        self.name = name
        self.tensor = tensor


def flattened(items):
    for item in items:
        if isinstance(item, (list, tuple)):
            yield from flattened(item)
        else:
            yield item


def concrete(item):
    if isinstance(item, Value):
        return item.tensor
    if isinstance(item, (list, tuple)):
        return [concrete(each) for each in item]
    return item


def number(value):
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def encoded_list(kind, items):
    if any(isinstance(item, Value) for item in items):
        if all(items):
            return {"as_tensors": [{"name": item.name} for item in items]}
        return {"as_optional_tensors": [encoded("", "Tensor", item) for item in items]}
    if "Tensor" in kind:
        return {"as_optional_tensors" if items else "as_tensors": [{"as_none": True} for _ in items]}
    if "bool" in kind:
        return {"as_bools": [bool(item) for item in items]}
    if "float" not in kind and all(isinstance(item, int) for item in items):
        return {"as_ints": list(items)}
    return {"as_floats": [number(float(item)) for item in items]}


def encoded(name, kind, item):
    """Returns an argument in the form of .pt2 files. `kind` is its type in the operator's schema."""
    if item is None:
        return {"as_none": True}
    if isinstance(item, Value):
        return {"as_tensor": {"name": item.name}}
    if isinstance(item, list):
        return encoded_list(kind, item)
    if isinstance(item, torch.device):
        return {"as_device": {"type": "cpu", "index": None}}
    if isinstance(item, str):
        return {"as_string": item}
    if isinstance(item, bool):
        return {"as_bool": item}
    if isinstance(item, int) and name == "dtype":
        return {"as_scalar_type": DTYPES[passed(name, item)][0]}
    if isinstance(item, int) and name == "layout":
        return {"as_layout": 7}
    if isinstance(item, int) and name == "memory_format":
        return {"as_memory_format": TRACED_FORMATS[item][1]}
    if isinstance(item, int) and "float" not in kind:
        return {"as_int": item}
    if isinstance(item, (int, float)):
        return {"as_float": number(float(item))}
    raise Skipped(f"an argument has the unsupported type {type(item)}")


def passed(name, item):
    """Returns an argument in the form that the operator accepts."""
    if name == "dtype" and isinstance(item, int):
        if item not in TRACED_DTYPES:
            raise Skipped("complex numbers are not supported")
        return TRACED_DTYPES[item]
    if name == "layout" and isinstance(item, int):
        return torch.strided
    if name == "memory_format" and isinstance(item, int):
        return TRACED_FORMATS[item][0]
    return concrete(item)


def as_exported(base, overload, args):
    """Replaces the general convolution of traces by the convolution that torch.export records."""
    if base == "_convolution_mode":
        return f"conv{args[1].tensor.dim() - 2}d", "padding", args
    if base != "_convolution":
        return base, overload, args
    x, weight, bias, stride, padding, dilation, transposed, output_padding, groups = args[:9]
    dims = weight.tensor.dim() - 2
    if not transposed:
        return f"conv{dims}d", "", [x, weight, bias, stride, padding, dilation, groups]
    return (f"conv_transpose{dims}d", "input" if dims > 1 else "",
            [x, weight, bias, stride, padding, output_padding, groups, dilation])


class Trace:
    """The recorded calls of `function` for these inputs."""

    def __init__(self, function, inputs):
        self.nodes, self.constants, self.values, self.found = [], [], {}, {}
        with torch.no_grad():
            traced = torch.jit.trace(function, tuple(each.clone() for each in inputs),
                                     check_trace=False)
            graph = traced.graph.copy()
            torch._C._jit_pass_inline(graph)
            self.inputs = [self.add(f"x{i}", each.clone()) for i, each in enumerate(inputs)]
            for value, item in zip(graph.inputs(), self.inputs):
                self.found[value.debugName()] = item
            for node in graph.nodes():
                self.take(node)
        self.outputs = [item for item in flattened(self.get(out) for out in graph.outputs())
                        if item is not None]
        if not self.nodes or not all(isinstance(item, Value) for item in self.outputs):
            raise Skipped("the function has no calls, or results that are not tensors")
        for given, item in zip(inputs, self.inputs):
            if not torch.equal(given.nan_to_num(), item.tensor.nan_to_num()):
                raise Skipped("the function writes to an input")

    def add(self, name, tensor):
        base, count = name, 0
        while name in self.values:
            count += 1
            name = f"{base}_{count}"
        self.values[name] = Value(name, tensor)
        return self.values[name]

    def get(self, value):
        return self.found[value.debugName()]

    def take(self, node):
        kind, outs = node.kind(), list(node.outputs())
        args = [self.get(value) for value in node.inputs()]
        if kind == "prim::Constant":
            self.found[outs[0].debugName()] = self.constant(outs[0].toIValue())
        elif kind in ("prim::ListConstruct", "prim::TupleConstruct"):
            self.found[outs[0].debugName()] = args
        elif kind in ("prim::ListUnpack", "prim::TupleUnpack"):
            for out, item in zip(outs, args[0]):
                self.found[out.debugName()] = item
        elif kind in NUMBERS:
            if isinstance(args[0], Value):
                raise Skipped("a number depends on data")
            self.found[outs[0].debugName()] = float(args[0]) if "Float" in kind else args[0]
        elif kind == "aten::size":
            sizes = list(args[0].tensor.shape)
            self.found[outs[0].debugName()] = sizes if len(args) == 1 else sizes[args[1]]
        elif kind.split("::")[0] in ("aten", "quantized_decomposed"):
            self.call(node, args, outs)
        else:
            raise Skipped(kind)

    def constant(self, value):
        if not isinstance(value, torch.Tensor):
            return value
        if value.dim() == 0 and value.dtype in (torch.float64, torch.int64):
            return value.item()
        self.constants.append(self.add(f"c_lifted_tensor_{len(self.constants)}",
                                       value.contiguous()))
        return self.constants[-1]

    def call(self, node, args, outs):
        if node.schema() == "(no schema)":
            raise Skipped(f"{node.kind()} has no schema")
        space, full = node.schema().split("(")[0].split("::")
        base, overload, args = as_exported(*full.partition(".")[::2], args)
        if base.rstrip("_") in RANDOM | UNDEFINED:
            raise Skipped("the result is random or uninitialized")
        operator = getattr(getattr(getattr(torch.ops, space), base), overload or "default")
        schema = operator._schema
        # Omits trailing arguments that have their default values, as torch.export does.
        is_default = [each.has_default_value() and not isinstance(item, Value)
                      and item == each.default_value for each, item in zip(schema.arguments, args)]
        count = 1 + max((i for i, each in enumerate(schema.arguments)
                         if not each.kwarg_only and not is_default[i]), default=-1)
        positional, keywords, inputs = [], {}, []
        for i, (each, item) in enumerate(zip(schema.arguments, args)):
            if i >= count and (not each.kwarg_only or is_default[i] or item is None
                               or each.name == "pin_memory"):
                continue
            if each.kwarg_only:
                keywords[each.name] = passed(each.name, item)
            else:
                positional.append(passed(each.name, item))
            inputs.append({"name": each.name, "arg": encoded(each.name, str(each.type), item),
                           "kind": 2 if each.kwarg_only else 1})
        results = operator(*positional, **keywords)
        results = [results] if len(schema.returns) == 1 else list(results)
        outputs = []
        for out, result in zip(outs, results):
            if isinstance(result, torch.Tensor):
                item = self.add(base.strip("_"), result)
                outputs.append({"as_tensor": {"name": item.name}})
            elif isinstance(result, (list, tuple)):
                item = [self.add(base + "_item", each) for each in result]
                outputs.append({"as_tensors": [{"name": each.name} for each in item]})
            else:
                raise Skipped(f"a result has the unsupported type {type(result)}")
            self.found[out.debugName()] = item
        self.nodes.append({"target": f"torch.ops.{space}.{base}.{overload or 'default'}",
                           "inputs": inputs, "outputs": outputs, "metadata": {},
                           "is_hop_single_tensor_return": None,
                           "name": outputs[0].get("as_tensor", {"name": base})["name"]})


def size_of(sizes, batches):
    """Returns a size as c + k * batch, given its value for each batch."""
    if len(set(sizes)) == 1:
        return {"as_int": sizes[0]}
    factor = (sizes[1] - sizes[0]) // (batches[1] - batches[0])
    rest = sizes[0] - factor * batches[0]
    if any(size != rest + factor * batch for size, batch in zip(sizes, batches)):
        raise Skipped("a size is not linear in the batch")
    text = "Symbol('s0', positive=True, integer=True)"
    text = text if factor == 1 else f"Mul(Integer({factor}), {text})"
    text = text if rest == 0 else f"Add({text}, Integer({rest}))"
    return {"as_expr": {"expr_str": text, "hint": {"as_int": sizes[0]}}}


def tensor_meta(tensors, batches):
    def sizes(of):
        return [size_of(list(each), batches) for each in zip(*map(of, tensors))]
    return {"dtype": DTYPES[tensors[0].dtype][0], "sizes": sizes(lambda each: each.shape),
            "requires_grad": False, "device": {"type": "cpu", "index": None},
            "strides": sizes(lambda each: each.stride()),
            "storage_offset": {"as_int": tensors[0].storage_offset()}, "layout": 7}


def raw_bytes(tensor):
    tensor = tensor.detach().contiguous()
    return (tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor).numpy().tobytes()


def exported_program(traces, batches, metas):
    first = traces[0]
    graph = {"inputs": [{"as_tensor": {"name": each.name}}
                        for each in first.constants + first.inputs],
             "outputs": [{"as_tensor": {"name": each.name}} for each in first.outputs],
             "nodes": first.nodes, "tensor_values": metas, "sym_int_values": {},
             "sym_bool_values": {}, "is_single_tensor_return": False, "custom_obj_values": {}}
    signature = {
        "input_specs": [{"tensor_constant": {"arg": {"name": each.name},
                                             "tensor_constant_name": each.name}}
                        for each in first.constants]
        + [{"user_input": {"arg": {"as_tensor": {"name": each.name}}}} for each in first.inputs],
        "output_specs": [{"user_output": {"arg": {"as_tensor": {"name": each.name}}}}
                         for each in first.outputs]}
    ranges = {} if len(batches) == 1 else {"s0": {"min_val": 1, "max_val": 8}}
    return {"graph_module": {"graph": graph, "signature": signature, "module_call_graph": [],
                             "metadata": {}},
            "opset_version": {"aten": 10}, "range_constraints": ranges,
            "schema_version": {"major": 8, "minor": 20}, "verifiers": ["TRAINING"],
            "torch_version": torch.__version__}


def write_archive(path, program, constants, metas):
    with zipfile.ZipFile(path, "w") as archive:
        def write(name, contents):
            archive.writestr(zipfile.ZipInfo("model/" + name), contents)
        write("archive_format", "pt2")
        write("archive_version", "0")
        write("byteorder", "little")
        write("models/model.json", json.dumps(program))
        write("data/weights/model_weights_config.json", json.dumps({"config": {}}))
        config = {}
        for i, each in enumerate(constants):
            write(f"data/constants/tensor_{i}", raw_bytes(each.tensor))
            config[each.name] = {"path_name": f"tensor_{i}", "is_param": False,
                                 "use_pickle": False, "tensor_meta": metas[each.name]}
        write("data/constants/model_constants_config.json", json.dumps({"config": config}))
        write("data/sample_inputs/model.pt", "")


def write_case(folder, function, calls, tolerance=1e-4):
    """Writes a case with these calls, each of which is a list of inputs. Several calls may differ only in
    the first size of their inputs, which becomes a symbol. Raises Skipped and the errors of the function."""
    traces = [Trace(function, inputs) for inputs in calls]
    first = traces[0]
    for other in traces[1:]:
        if first.nodes != other.nodes:
            raise Skipped("arguments depend on the batch")
    batches = [inputs[0].shape[0] if inputs[0].dim() else 0 for inputs in calls]
    metas = {name: tensor_meta([each.values[name].tensor for each in traces], batches)
             for name in first.values}
    os.makedirs(folder)
    write_archive(f"{folder}/model.pt2", exported_program(traces, batches, metas),
                  first.constants, metas)
    described = []
    for i, (inputs, trace) in enumerate(zip(calls, traces)):
        call = {"method": "forward", "inputs": [], "outputs": []}
        for kind, tensors in (("inputs", inputs),
                              ("outputs", [each.tensor for each in trace.outputs])):
            for tensor in tensors:
                name = f"{kind}_{i}_{len(call[kind])}.bin"
                with open(f"{folder}/{name}", "wb") as file:
                    file.write(raw_bytes(tensor))
                call[kind].append({"kind": "tensor", "file": name,
                                   "dtype": DTYPES[tensor.dtype][1], "shape": list(tensor.shape),
                                   "dim_order": list(range(tensor.dim()))})
        described.append(call)
    case = {"name": os.path.basename(folder), "stateful": False,
            "tolerance": {"rtol": tolerance, "atol": tolerance}, "byte_order": "little",
            "calls": described}
    with open(f"{folder}/case.json", "w") as file:
        json.dump(case, file)
