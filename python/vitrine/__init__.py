"""Runs, profiles, lowers and inspects ExecuTorch programs.

    import numpy, vitrine

    program = vitrine.Program("model.pte")
    (logits,) = program(numpy.zeros((1, 3, 224, 224), numpy.float32))
    print(program.profile())
"""

from __future__ import annotations

import importlib.machinery
import json
import math
import os
import sys
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Mapping, Optional, Sequence, Union

import numpy

try:
    from . import _vitrine
except ImportError as error:
    _built = [name for name in os.listdir(os.path.dirname(__file__)) if name.startswith("_vitrine.c")]
    if any("_vitrine" + suffix in _built for suffix in importlib.machinery.EXTENSION_SUFFIXES):
        raise
    raise ImportError(
        f"this build of vitrine is for another Python: it has {', '.join(_built) or 'no module'}, but this is "
        f"{sys.implementation.cache_tag} ({sys.executable}). Run the Python that CMake found, or configure with "
        f"-DPython_EXECUTABLE={sys.executable}") from error
from ._arguments import Bytes, PathLike, arrays, count, items
from ._html import escaped, table as html_table
from ._language_model import Generation, LanguageModel
from ._numerics import Numerics
from ._profiles import Comparison, Profile, ValueComparison, Verification
from ._vitrine import Error

if TYPE_CHECKING:
    import pandas

__version__: str = _vitrine.version
__all__ = ["AutoQuantized", "Comparison", "DelegationInfo", "Error", "Generation", "LanguageModel", "Lowered", "Numerics", "Profile",
           "Program", "Spec", "ValueComparison", "Verification", "compare", "compare_values", "delegation_info",
           "inspect", "load_library", "lower", "numerics", "quantize_auto"]


def __dir__() -> list[str]:
    return __all__


def _option(name: str, value: Any) -> tuple[str, Union[bool, int, str]]:
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if not isinstance(value, (bool, int, str)):
        raise TypeError(f"backend option {name} must be a bool, an int or a str, got {value!r}")
    return name, value


@dataclass(frozen=True)
class Spec:
    """Describes an input or output of a method."""

    kind: str  # "array", "Int", "Double", "Bool", "String" or "None"
    dtype: Optional[numpy.dtype]  # bfloat16, which NumPy does not have, is uint16 with the same bits
    shape: Optional[tuple[int, ...]]  # the upper bound if dynamic
    dynamic: Optional[bool]
    # The value's keyword or dict key in the model, or a path to a nested value, such as "state.keys[0]". None if the
    # program does not name the value. Names may repeat.
    name: Optional[str] = None

    @property
    def ndim(self) -> Optional[int]:
        """The number of dimensions; None unless the value is an array."""
        return None if self.shape is None else len(self.shape)

    @property
    def size(self) -> Optional[int]:
        """The number of elements, or its maximum if the shape is dynamic; None unless the value is an array."""
        return None if self.shape is None else math.prod(self.shape)

    @property
    def itemsize(self) -> Optional[int]:
        return None if self.dtype is None else self.dtype.itemsize

    @property
    def nbytes(self) -> Optional[int]:
        return None if self.shape is None or self.dtype is None else math.prod(self.shape) * self.dtype.itemsize

    def __str__(self) -> str:
        text = self.kind if self.dtype is None or self.shape is None else f"{self.dtype}{list(self.shape)}"
        return f"{self.name}: {text}" if self.name else text


class Program:
    """A program: the path of a .pte file, or its bytes, such as `Lowered.program`.

    A file is mapped into memory and must not be truncated while the program exists. Bytes are copied.
    `threads` includes the calling thread; 0 means the number of performance cores. `data` lists .ptd
    files. `backend_options` has the options of `executor_runner --backend_option`: those of XNNPACK by
    name, {"workspace_sharing_mode": 2}, those of other backends as "Backend:name" (docs/xnnpack.md).
    The limits bound what a hostile file can request; 0 means the default (docs/trust.md).
    `accept_unwritten_outputs` loads methods with an output that nothing writes.
    Methods raise `vitrine.Error`, or TypeError and ValueError for invalid arguments.
    """

    def __init__(self, program: Union[PathLike, Bytes], *, threads: int = 0,
                 optimized_kernels: bool = True, data: Sequence[PathLike] = (),
                 backend_options: Optional[Mapping[str, Union[bool, int, PathLike]]] = None,
                 max_memory_bytes: int = 0, max_load_steps: int = 0,
                 max_instructions_per_run: int = 0, max_milliseconds_per_run: int = 0,
                 accept_unwritten_outputs: bool = False) -> None:
        limits = _vitrine.MethodLimits()
        limits.max_memory_bytes = count("max_memory_bytes", max_memory_bytes, 0)
        limits.max_load_steps = count("max_load_steps", max_load_steps, 0)
        limits.max_instructions_per_run = count("max_instructions_per_run", max_instructions_per_run, 0)
        limits.max_milliseconds_per_run = count("max_milliseconds_per_run", max_milliseconds_per_run, 0)
        settings = _vitrine.ProgramSettings()
        settings.limits = limits
        settings.threads = count("threads", threads, 0)
        settings.optimized_kernels = optimized_kernels
        settings.accept_unwritten_outputs = accept_unwritten_outputs
        settings.data = [os.fspath(file) for file in items("data", data)]
        settings.backend_options = [_option(*option) for option in (backend_options or {}).items()]
        self._program = _vitrine.Program(
            bytes(program) if isinstance(program, (bytes, bytearray, memoryview)) else os.fspath(program),
            settings)

    @property
    def path(self) -> Optional[str]:
        """The path as it was given; None if the program was given as bytes."""
        return self._program.path() or None

    @property
    def methods(self) -> list[str]:
        return self._program.methods()

    def inputs(self, method: str = "forward") -> list[Spec]:
        return [Spec(*row) for row in self._program.inputs(method)]

    def outputs(self, method: str = "forward") -> list[Spec]:
        return [Spec(*row) for row in self._program.outputs(method)]

    def __call__(self, *inputs: Any) -> tuple[Any, ...]:
        """Calls `forward`."""
        return self.call("forward", *inputs)

    def call(self, method: str, *inputs: Any) -> tuple[Any, ...]:
        """Calls a method with arrays and numbers.

        Arrays must have exactly the dtype of the input and be in row-major order. They are not copied
        unless they are unaligned. Numbers must have the kind of the input; an int is also accepted for
        a float and becomes the nearest one. Arrays in the result own their memory. Objects with
        `__dlpack__`, such as tensors of PyTorch, count as arrays and are not copied either.
        """
        return self._program.call(method, *arrays(inputs))

    def cancel(self) -> None:
        """Ends the call that another thread has in progress, if any: it raises `vitrine.Error`.

        Takes effect before the next instruction or the next operator of a delegate. The program can be
        called again.
        """
        self._program.cancel()

    def profile(self, *inputs: Any, method: str = "forward", runs: Optional[int] = None,
                warmup: Optional[int] = None, record: Optional[PathLike] = None) -> "Profile":
        """Profiles a method like `executor_runner --profile`: reports where the time goes.

        If no inputs are given, they are random. `runs` is the number of runs, by default 5 to 50, as many
        as fit into two seconds. `warmup` is the number of runs before these, by default enough for
        times to settle. `record` is an ETRecord, for programs that do not contain one.
        """
        runs = None if runs is None else count("runs", runs, 1)
        warmup = None if warmup is None else count("warmup", warmup, 0)
        return Profile(self._program.profile(method, runs, warmup, os.fspath(record or ""), *arrays(inputs)))

    def verify(self, *inputs: Any, expected: Sequence[Any], method: str = "forward", rtol: Optional[float] = None,
               atol: Optional[float] = None, min_sqnr: Optional[float] = None) -> Verification:
        """Runs a method and compares its outputs with `expected`, an array for each output.

        An element may differ by atol + rtol * |expected|; the defaults depend on the dtype. `min_sqnr` is the
        minimum signal-to-noise ratio of an output in dB; if it is the only limit, single elements may differ.
        """
        return Verification(self._program.verify(method, arrays(expected, "expected output"), rtol, atol, min_sqnr,
                                                 *arrays(inputs)))

    def __repr__(self) -> str:
        return f"vitrine.Program({self.path!r})" if self.path else "<vitrine.Program of bytes>"

    def _repr_html_(self) -> str:
        rows = [[method, "<br>".join(escaped(str(spec)) for spec in self.inputs(method)),
                 "<br>".join(escaped(str(spec)) for spec in self.outputs(method))] for method in self.methods]
        return html_table(repr(self), ["method", "inputs", "outputs"], rows, html_columns=(1, 2))


def compare(a: Profile, b: Profile) -> Comparison:
    """Compares two profiles op by op. A is the reference."""
    return Comparison(a, b)


def compare_values(a: Program, b: Program, *inputs: Any, method: str = "forward", min_sqnr: float = 40.0,
                   record_a: Optional[PathLike] = None, record_b: Optional[PathLike] = None,
                   max_bytes: int = 256 << 20) -> ValueComparison:
    """Runs a method of two programs once on the same inputs, and compares the results of each op.

    A is the reference: compare a float program with its quantized form. Without inputs, they are random.
    `min_sqnr` is the limit in dB for `is_below`. `record_a` and `record_b` are ETRecords, for programs that do not
    contain one. `max_bytes` limits the memory for the results of each program.
    """
    given = arrays(inputs)
    limit = count("max_bytes", max_bytes, 0)
    runs = [program._program.record_values(method, os.fspath(record or ""), limit, *given)
            for program, record in ((a, record_a), (b, record_b))]
    return ValueComparison(runs[0], runs[1], min_sqnr)


def numerics(program: Union[Program, PathLike, Bytes], reference: Union[Program, PathLike, Bytes], *,
             inputs: Optional[Sequence[Any]] = None, samples: Union[PathLike, Sequence[Any], None] = None,
             method: str = "forward", limit: Optional[float] = None, times: bool = False,
             record: Optional[PathLike] = None, reference_record: Optional[PathLike] = None,
             max_bytes: int = 256 << 20) -> Numerics:
    """Measures for each operator the error that it makes itself, and the error that it inherits.

    `reference` is the exact model: a .pt2 file, which is lowered in memory to portable kernels, or a program without
    delegates (a .pte file, its bytes, or a `Program`). `inputs` is a list with an array for each input. `samples` is a
    list of arrays (of tuples of arrays for several inputs), or files and folders as in docs/quantization.md; the
    figures are then those of all samples together. Without both, inputs are random. `limit` is the limit in dB for
    `first_below`, by default 30. `times` also profiles the program, and adds the time of each row. `record` and
    `reference_record` are ETRecords, for programs that do not contain one. `max_bytes` limits the memory for the values
    of each program.
    """
    if inputs is not None and samples is not None:
        raise ValueError("inputs and samples cannot be used together")
    if not isinstance(program, Program):
        program = Program(program)
    settings = _vitrine.NumericsSettings()
    settings.method = method
    if isinstance(reference, (bytes, bytearray, memoryview)):
        settings.reference_bytes = bytes(reference)
    elif isinstance(reference, Program):
        if reference.path is None:
            raise ValueError("reference is a Program made from bytes: pass the bytes themselves")
        settings.reference = reference.path
    else:
        settings.reference = os.fspath(reference)
    settings.record = os.fspath(record or "")
    settings.reference_record = os.fspath(reference_record or "")
    settings.limit = limit
    settings.times = times
    settings.max_bytes = count("max_bytes", max_bytes, 0)
    settings.has_one_input = inputs is not None
    given: list[Any] = [] if inputs is None else [tuple(arrays(items("inputs", inputs)))]
    if isinstance(samples, (str, os.PathLike)):
        settings.samples = [os.fspath(samples)]
    elif samples is not None:
        listed = list(samples)
        if not listed:
            raise ValueError("samples is empty")
        paths = [os.fspath(sample) for sample in listed if isinstance(sample, (str, os.PathLike))]
        if paths and len(paths) != len(listed):
            raise TypeError("samples must be all paths or all arrays")
        settings.samples = paths
        if not paths:
            given = [tuple(arrays(sample if isinstance(sample, (tuple, list)) else [sample], f"sample {index}, input"))
                     for index, sample in enumerate(listed)]
    return Numerics(program._program.numerics(settings, given))


@dataclass(frozen=True)
class DelegationInfo:
    """Shows how much of a method is delegated, with the counts of ExecuTorch's get_delegation_info."""

    subgraphs: int
    delegated_nodes: int
    non_delegated_nodes: int
    by_op: list[dict[str, Any]]  # op_type, delegated, non_delegated
    text: str

    def to_pandas(self) -> "pandas.DataFrame":
        import pandas

        return pandas.DataFrame(self.by_op)

    def __str__(self) -> str:
        return self.text


class Lowered:
    """The result of lower(): a program, and information about how it was lowered."""

    def __init__(self, model: "_vitrine.Lowered") -> None:
        self._model = model

    @property
    def program(self) -> bytes:
        """The bytes of a .pte file."""
        return self._model.program()

    @property
    def record(self) -> bytes:
        """The bytes of an ETRecord; empty unless lower() was called with record=True."""
        return self._model.record()

    @property
    def notes(self) -> Sequence[str]:
        """Requested changes that lower() did not make, with reasons."""
        return self._model.notes()

    @property
    def data(self) -> Mapping[str, bytes]:
        """External weights by file name; empty unless lower() was called with external_constants=True."""
        return self._model.data()

    def save(self, path: PathLike) -> None:
        """Writes the program to `path`, and the files of `data` to the same folder."""
        self._model.save(os.fspath(path))

    def delegation_info(self, method: Optional[str] = None) -> DelegationInfo:
        """Returns the delegation of a method. `method` is optional if the program has only one."""
        infos = self._model.delegation_info()
        if method is None:
            if len(infos) != 1:
                raise ValueError(f"method must be one of {', '.join(infos)}")
            method = next(iter(infos))
        if method not in infos:
            raise ValueError(f"no method {method!r}; the program has {', '.join(infos)}")
        subgraphs, delegated, others, by_op, text = infos[method]
        keys = ("op_type", "delegated", "non_delegated")
        return DelegationInfo(subgraphs, delegated, others, [dict(zip(keys, row)) for row in by_op], text)

    def explain(self) -> str:
        """Lists the changes that `optimize` made. Explains why calls are not delegated, the most expensive first."""
        return self._model.explain()

    def __str__(self) -> str:
        return self._model.summary()


class AutoQuantized(Lowered):
    """The result of quantize_auto(): a program, and the search that chose its precisions."""

    def __init__(self, model: "_vitrine.Lowered", json_text: str, table: str, html: str) -> None:
        super().__init__(model)
        self._json, self._table, self._html = json_text, table, html

    @property
    def search(self) -> dict[str, Any]:
        """The report of pte_lower --search_report: parts, measured programs and the result."""
        return json.loads(self._json)

    @property
    def choice(self) -> dict[str, Any]:
        """Keyword arguments with which lower() makes this program again, given the same calibration data."""
        data = self.search
        if not data["quantize"]:
            return {"quantize": "float"}
        return {"quantize": data["quantize"], "keep": data["keep"]}

    def table(self) -> str:
        """The tables of pte_lower --quantize auto."""
        return self._table

    def save_html(self, path: PathLike) -> None:
        """Writes a page with the table of parts, and the curves of error against size and time."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._html)


Number = Union[int, float, bool]


def _bounds(name: str, bounds: Any) -> str:
    if isinstance(bounds, int):
        return f"{name}={bounds}"
    if not isinstance(bounds, (tuple, list)) or len(bounds) != 2:
        raise TypeError(f"dynamic {name!r} must be a maximum, or a pair of minimum and maximum, got {bounds!r}")
    return f"{name}={bounds[0]}:{bounds[1]}"


def _calibration_paths(calibrate: Any, folder: str) -> list[str]:
    """Returns the paths of calibration data. Writes samples in memory to files in `folder`."""
    if calibrate is None:
        return []
    if isinstance(calibrate, (str, os.PathLike)):
        return [os.fspath(calibrate)]
    paths = []
    for index, sample in enumerate(calibrate):
        if isinstance(sample, (str, os.PathLike)):
            paths.append(os.fspath(sample))
            continue
        arrays = sample if isinstance(sample, (tuple, list)) else [sample]
        paths.append(os.path.join(folder, f"sample {index}.npz"))
        numpy.savez(paths[-1], *arrays)
    if not paths:
        raise ValueError("calibrate has no samples")
    return paths


def lower(model: Union[PathLike, Mapping[str, PathLike]], *,
          backend: Union[str, Sequence[str], None] = "xnnpack",
          backend_options: Sequence[str] = (),
          only_ops: Sequence[str] = (), exclude_ops: Sequence[str] = (),
          attention: Optional[str] = None, quantize: Optional[str] = None,
          calibrate: Union[PathLike, Sequence[Any], None] = None, keep: Union[Mapping[str, str], Sequence[str], None] = None,
          fold_constants: bool = False, optimize: bool = False,
          metadata: Optional[Mapping[str, Union[Number, Sequence[Number]]]] = None,
          dynamic: Optional[Mapping[str, Union[int, tuple[int, int]]]] = None, operators: Sequence[str] = (),
          share_mutable_buffers: bool = False, external_constants: bool = False,
          plan_inputs: bool = True, plan_outputs: bool = True,
          debug_maps: bool = True, record: bool = False) -> Lowered:
    """Lowers models that torch.export.save wrote: a .pt2 file, or one file for each method.

    `backend` is "xnnpack", "xnnpack-dynamic", "xnnpack-branches", a list of several in order of
    preference, or None. `backend_options=["enable_bf16"]` lets XNNPACK take bf16 tensors.
    `only_ops` and `exclude_ops` limit the operators that a backend may take.
    `attention="custom_sdpa"` uses the operators of language models for attention and for writes to
    caches; "auto" does so where it is faster.
    `quantize` is a scheme, as for pte_lower: "8da4w:32,embedding:4:32" for float weights, or "int8".
    `calibrate` is the calibration data of int8: a file or folder, or a sequence of them or of samples. A
    sample is a NumPy array, or a sequence with an array for each input.
    `keep` gives parts of the model another scheme: {"classifier.*": "float", "head": "8da4w:32"}, or a list of
    "part=scheme" if a part has several.
    `optimize` applies speed optimizations that ExecuTorch does not have; `explain()` lists the changes.
    `metadata` adds methods that return a value or list: {"get_max_seq_len": 2048}.
    `dynamic` narrows the inclusive bounds of sizes: {"x.0": (1, 8)}, or sets the maximum: {"x.0": 8}.
    `operators` declares custom operators: "my::op(Tensor(a!) x, float y=1.0) -> Tensor".
    `share_mutable_buffers` lets methods share state; `external_constants` moves weights to `data`.
    Without `plan_inputs` or `plan_outputs`, the caller provides the memory of inputs or outputs.
    `debug_maps` adds the maps that give profiles source ops; `record` also makes an ETRecord.
    """
    keywords = dict(locals())
    del keywords["model"]
    return _with_settings(model, keywords, lambda paths, settings: Lowered(_vitrine.lower(paths, settings)))


def _with_settings(model: Union[PathLike, Mapping[str, PathLike]], keywords: Mapping[str, Any], call: Any) -> Any:
    """Makes settings from the keywords of lower(), calls call(paths, settings), and returns the result."""
    models = dict(model) if isinstance(model, Mapping) else {"forward": model}
    settings = _vitrine.LowerSettings()
    backend, keep = keywords["backend"], keywords["keep"] or {}
    settings.backends = [] if backend is None else [backend] if isinstance(backend, str) else list(backend)
    for name in ("backend_options", "only_ops", "exclude_ops", "operators"):
        setattr(settings, name, items(name, keywords[name]))
    settings.attention = keywords["attention"] or ""
    settings.quantize = keywords["quantize"] or ""
    settings.keep = ([f"{part}={scheme}" for part, scheme in keep.items()] if isinstance(keep, Mapping)
                     else items("keep", keep))
    settings.metadata = dict(keywords["metadata"] or {})
    settings.dynamic = [_bounds(*item) for item in (keywords["dynamic"] or {}).items()]
    for name in ("fold_constants", "optimize", "share_mutable_buffers", "external_constants", "plan_inputs",
                 "plan_outputs", "debug_maps", "record"):
        setattr(settings, name, keywords[name])
    paths = {name: os.fspath(path) for name, path in models.items()}
    with tempfile.TemporaryDirectory() as folder:
        settings.calibrate = _calibration_paths(keywords["calibrate"], folder)
        return call(paths, settings)


def quantize_auto(model: PathLike, *, calibrate: Union[PathLike, Sequence[Any]],
                  at_least: Optional[float] = None, at_most_bytes: Optional[float] = None,
                  at_most_ms: Optional[float] = None, accuracy: Optional[Callable[[Program], float]] = None,
                  device_times: Optional[Mapping[str, PathLike]] = None,
                  samples: int = 0, **keywords: Any) -> AutoQuantized:
    """Chooses a precision for each layer under one bound, by measuring, like pte_lower --quantize auto.

    `at_least` gives the smallest program whose outputs have this SQNR in dB against the float program, or
    this score if there is `accuracy`. `at_most_bytes` and `at_most_ms` give the most accurate program of this
    size, or that takes this time on this machine.
    `accuracy` is a function from a `Program` to a score; higher is better. It replaces dB.
    `device_times` takes times from a device's profiles instead of measuring them on this machine: {"float":
    "float.json", "int8": "int8.json"}. The keys are schemes; the search tries only these. The times of programs are
    then modeled, so `search["is_certain"]` is false under `at_most_ms`.
    `samples` limits the samples that the search measures with; 0: 32. `calibrate` and the other keywords
    are those of `lower`. Raises `vitrine.Error` with the best figure if no measured program keeps the bound.
    """
    for name in keywords:
        if name not in (lower.__kwdefaults__ or {}):
            raise TypeError(f"quantize_auto() got an unexpected keyword argument {name!r}")
        if name in ("quantize", "keep", "external_constants"):
            raise TypeError(f"quantize_auto() chooses the precisions: it does not accept {name!r}")
    bounds = _vitrine.AutoSettings()
    bounds.at_least, bounds.at_most_bytes, bounds.at_most_ms = at_least, at_most_bytes, at_most_ms
    bounds.samples = count("samples", samples, 0)
    if device_times is not None:
        if not isinstance(device_times, Mapping):
            raise TypeError(f"device_times must be a dict from scheme to path, got {type(device_times).__name__}")
        bounds.device_times = [f"{scheme}={os.fspath(path)}" for scheme, path in device_times.items()]
    if accuracy is not None:
        bounds.score = lambda program: accuracy(Program(program))
    every = {**(lower.__kwdefaults__ or {}), **keywords, "calibrate": calibrate}
    return _with_settings(model, every, lambda paths, settings: AutoQuantized(
        *_vitrine.quantize_auto(paths, settings, bounds)))


def delegation_info(lowered: Lowered, method: Optional[str] = None) -> DelegationInfo:
    return lowered.delegation_info(method)


def load_library(path: PathLike) -> None:
    """Loads a shared library with operators and backends that this build lacks (vitrine/extension.h).

    Call it before programs are loaded. The library stays loaded until the process ends. It runs code in this
    process: load only libraries that you trust.
    """
    _vitrine.load_library(os.fspath(path))


def inspect(path: PathLike) -> dict[str, Any]:
    """Describes a .pte, .bpte, .ptd, .pt2, ETDump or ETRecord file like `pte_inspect --json`."""
    return json.loads(_vitrine.inspect_json(os.fspath(path)))
