"""Runs, profiles, lowers and looks into ExecuTorch programs.

    import numpy, vitrine

    program = vitrine.Program("model.pte")
    (logits,) = program(numpy.zeros((1, 3, 224, 224), numpy.float32))
    print(program.profile())
"""

from __future__ import annotations

import json
import operator
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

import numpy

from . import _vitrine
from ._vitrine import Error

if TYPE_CHECKING:
    import pandas

__version__: str = _vitrine.version
__all__ = ["Error", "Lowered", "DelegationInfo", "Profile", "Program", "Spec",
           "delegation_info", "inspect", "lower"]

PathLike = Union[str, "os.PathLike[str]"]
Bytes = Union[bytes, bytearray, memoryview]


def _count(name: str, value: Any, least: int) -> int:
    try:
        count = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}; it takes an int") from None
    if count < least:
        raise ValueError(f"{name} is {count}; it takes {least} or more")
    if count > sys.maxsize:
        raise ValueError(f"{name} is {count}; it takes at most {sys.maxsize}")
    return count


def _items(name: str, value: Any) -> list[Any]:
    """A list of strings or paths. One alone would be taken for a list of letters."""
    if isinstance(value, (str, bytes, os.PathLike)):
        raise TypeError(f"{name} is {value!r}; it takes a list: [{value!r}]")
    return list(value)


def _option(name: str, value: Any) -> tuple[str, Union[bool, int, str]]:
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if not isinstance(value, (bool, int, str)):
        raise TypeError(f"backend option {name} is {value!r}; it takes a bool, an int or a str")
    return name, value


@dataclass(frozen=True)
class Spec:
    """What a method takes or gives at one place."""

    kind: str  # "array", or that of another value: "Int", "Double", "Bool", "String", "None"
    dtype: Optional[numpy.dtype]  # bfloat16, which NumPy lacks, is uint16: the same bits
    shape: Optional[tuple[int, ...]]  # the upper bound if dynamic
    dynamic: Optional[bool]
    # The key of its dict or keyword argument in the model, or the path from there: "state.keys[0]".
    # None if the program has no name for it. Not always unique.
    name: Optional[str] = None


class Program:
    """A .pte file, or its bytes: `Lowered.program`.

    A file is mapped into memory: it must not be truncated while this lives. Bytes are copied.
    `threads` counts the caller's; 0 means as many as the machine has performing cores. `data` are
    .ptd files. `backend_options` are as `executor_runner --backend_option` has them: those of
    XNNPACK by name, {"workspace_sharing_mode": 2}, others as "Backend:name" (docs/xnnpack.md).
    The limits bound what a hostile file can ask for; 0 stands for the default (docs/trust.md).
    Errors are `vitrine.Error`, and TypeError or ValueError for wrong inputs.
    """

    def __init__(self, program: Union[PathLike, Bytes], *, threads: int = 0,
                 optimized_kernels: bool = True, data: Sequence[PathLike] = (),
                 backend_options: Optional[Mapping[str, Union[bool, int, PathLike]]] = None,
                 max_memory_bytes: int = 0, max_load_steps: int = 0,
                 max_instructions_per_run: int = 0) -> None:
        limits = _vitrine.MethodLimits()
        limits.max_memory_bytes = _count("max_memory_bytes", max_memory_bytes, 0)
        limits.max_load_steps = _count("max_load_steps", max_load_steps, 0)
        limits.max_instructions_per_run = _count("max_instructions_per_run", max_instructions_per_run, 0)
        settings = _vitrine.ProgramSettings()
        settings.limits = limits
        settings.threads = _count("threads", threads, 0)
        settings.optimized_kernels = optimized_kernels
        settings.data = [os.fspath(file) for file in _items("data", data)]
        settings.backend_options = [_option(*option) for option in (backend_options or {}).items()]
        self._program = _vitrine.Program(
            bytes(program) if isinstance(program, (bytes, bytearray, memoryview)) else os.fspath(program),
            settings)

    @property
    def path(self) -> Optional[str]:
        """As it was given; None for a program of bytes."""
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

        Arrays are of exactly the dtype that the method takes, in row-major order, and are not
        copied on their way to it. Numbers are of the kind that it takes, or ints for floats,
        which become the nearest float. Outputs are arrays with memory of their own.
        """
        return self._program.call(method, *inputs)

    def profile(self, *inputs: Any, method: str = "forward", runs: Optional[int] = None,
                warmup: Optional[int] = None, record: Optional[PathLike] = None) -> "Profile":
        """Runs a method, as `executor_runner --profile` does, and tells where the time goes.

        Without inputs, they are random. `runs` is 1 or more, by default as many as fit into two
        seconds, 5 to 50. `warmup` runs come before; by default enough for times to settle.
        `record` is an ETRecord, for programs that do not carry their own.
        """
        runs = None if runs is None else _count("runs", runs, 1)
        warmup = None if warmup is None else _count("warmup", warmup, 0)
        return Profile(self._program.profile(method, runs, warmup, os.fspath(record or ""), *inputs))

    def __repr__(self) -> str:
        return f"vitrine.Program({self.path!r})" if self.path else "<vitrine.Program of bytes>"


class Profile:
    """Where the time of a run goes, row by row; prints as a table."""

    def __init__(self, profile: "_vitrine.Profile") -> None:
        self._profile = profile
        self.data: dict[str, Any] = json.loads(profile.json())  # docs/formats/profile_json.md

    @property
    def rows(self) -> list[dict[str, Any]]:
        """In run order. Times are nanoseconds per run."""
        return self.data["rows"]

    @property
    def wall_ns(self) -> dict[str, float]:
        """Statistics of a run: min, p50, avg and others."""
        return self.data["wall_ns"]

    def to_pandas(self) -> "pandas.DataFrame":
        import pandas

        return pandas.DataFrame(self.rows)

    def table(self, width: int = 100, *, costs: bool = False, ids: bool = False) -> str:
        return self._profile.table(width, costs, ids)

    def save(self, path: PathLike) -> None:
        """Writes .html, .json or, with another ending, the table."""
        path = os.fspath(path)
        text = (self._profile.html() if path.endswith(".html")
                else self._profile.json() if path.endswith(".json") else self.table())
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def __str__(self) -> str:
        return self.table()


@dataclass(frozen=True)
class DelegationInfo:
    """How much of a method is delegated, counted as ExecuTorch's get_delegation_info does."""

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
    """What lower() makes: a program, and what is known of how it was made."""

    def __init__(self, model: "_vitrine.Lowered") -> None:
        self._model = model

    @property
    def program(self) -> bytes:
        """The bytes of a .pte file."""
        return self._model.program()

    @property
    def record(self) -> bytes:
        """The bytes of an ETRecord; empty unless lower() was asked for it."""
        return self._model.record()

    @property
    def notes(self) -> Sequence[str]:
        """What lower() was asked to change and left as it is, and why."""
        return self._model.notes()

    @property
    def data(self) -> Mapping[str, bytes]:
        """Weights outside of the program, by file name: with `external_constants`."""
        return self._model.data()

    def save(self, path: PathLike) -> None:
        """The program, and files of `data` beside it."""
        self._model.save(os.fspath(path))

    def delegation_info(self, method: Optional[str] = None) -> DelegationInfo:
        """Of a method, which may be left out if there is one only."""
        infos = self._model.delegation_info()
        if method is None:
            if len(infos) != 1:
                raise ValueError(f"which method? There are {', '.join(infos)}")
            method = next(iter(infos))
        if method not in infos:
            raise ValueError(f"no method {method!r}; there are {', '.join(infos)}")
        subgraphs, delegated, others, by_op, text = infos[method]
        keys = ("op_type", "delegated", "non_delegated")
        return DelegationInfo(subgraphs, delegated, others, [dict(zip(keys, row)) for row in by_op], text)

    def explain(self) -> str:
        """What `optimize` did, and why calls are not delegated, most expensive first."""
        return self._model.explain()

    def __str__(self) -> str:
        return self._model.summary()


Number = Union[int, float, bool]


def _bounds(name: str, bounds: Any) -> str:
    if not isinstance(bounds, (tuple, list)) or len(bounds) != 2:
        raise TypeError(f"dynamic {name!r} is {bounds!r}; it takes two ints, the least and the greatest")
    return f"{name}={bounds[0]}:{bounds[1]}"


def lower(model: Union[PathLike, Mapping[str, PathLike]], *,
          backend: Union[str, Sequence[str], None] = "xnnpack",
          only_ops: Sequence[str] = (), exclude_ops: Sequence[str] = (),
          attention: Optional[str] = None, quantize: Optional[str] = None,
          fold_constants: bool = False, optimize: bool = False,
          metadata: Optional[Mapping[str, Union[Number, Sequence[Number]]]] = None,
          dynamic: Optional[Mapping[str, tuple[int, int]]] = None, operators: Sequence[str] = (),
          share_mutable_buffers: bool = False, external_constants: bool = False,
          plan_inputs: bool = True, plan_outputs: bool = True,
          debug_maps: bool = True, record: bool = False) -> Lowered:
    """Lowers what torch.export.save wrote: a .pt2 file, or a file for each method.

    `backend` is "xnnpack", "mapping-demo", several in order of preference, or None; `only_ops` and
    `exclude_ops` say what it is offered.
    `attention="custom_sdpa"` computes attention, and writes to caches, by the operators of language
    models; "auto" does so where it is faster.
    `quantize` is a scheme for float weights, as pte_lower has it: "8da4w:32,embedding:4:32".
    `optimize` goes beyond ExecuTorch's lowering for speed; `explain()` tells what it did.
    `metadata` adds methods that give a value or list: {"get_max_seq_len": 2048}.
    `dynamic` narrows bounds of sizes, inclusive: {"x.0": (1, 8)}.
    `operators` declares custom operators: "my::op(Tensor(a!) x, float y=1.0) -> Tensor".
    `share_mutable_buffers` gives methods one state; `external_constants` moves weights to `data`.
    Without `plan_inputs` or `plan_outputs` the caller gives their memory. `debug_maps` is what
    profiles are joined with; `record` makes an ETRecord too.
    """
    models = dict(model) if isinstance(model, Mapping) else {"forward": model}
    settings = _vitrine.LowerSettings()
    settings.backends = [] if backend is None else [backend] if isinstance(backend, str) else list(backend)
    settings.only_ops = _items("only_ops", only_ops)
    settings.exclude_ops = _items("exclude_ops", exclude_ops)
    settings.attention = attention or ""
    settings.quantize = quantize or ""
    settings.fold_constants = fold_constants
    settings.optimize = optimize
    settings.metadata = dict(metadata or {})
    settings.dynamic = [_bounds(*item) for item in (dynamic or {}).items()]
    settings.operators = _items("operators", operators)
    settings.share_mutable_buffers = share_mutable_buffers
    settings.external_constants = external_constants
    settings.plan_inputs = plan_inputs
    settings.plan_outputs = plan_outputs
    settings.debug_maps = debug_maps
    settings.record = record
    return Lowered(_vitrine.lower({name: os.fspath(path) for name, path in models.items()}, settings))


def delegation_info(lowered: Lowered, method: Optional[str] = None) -> DelegationInfo:
    return lowered.delegation_info(method)


def inspect(path: PathLike) -> dict[str, Any]:
    """Describes a .pte, .bpte, .ptd, .pt2, ETDump or ETRecord, as `pte_inspect --json` does."""
    return json.loads(_vitrine.inspect_json(os.fspath(path)))
