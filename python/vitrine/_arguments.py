"""Checks and converts arguments."""

from __future__ import annotations

import operator
import os
import sys
from typing import Any, Sequence, Union

import numpy

PathLike = Union[str, "os.PathLike[str]"]
Bytes = Union[bytes, bytearray, memoryview]


def count(name: str, value: Any, minimum: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an int, got {value!r}") from None
    if number < minimum:
        raise ValueError(f"{name} must be {minimum} or more, got {number}")
    if number > sys.maxsize:
        raise ValueError(f"{name} must be at most {sys.maxsize}, got {number}")
    return number


def items(name: str, value: Any) -> list[Any]:
    """Returns a list of strings or paths. Rejects a single string, which would become a list of letters."""
    if isinstance(value, (str, bytes, os.PathLike)):
        raise TypeError(f"{name} must be a list, got {value!r}: use [{value!r}]")
    return list(value)


_CPU_DEVICES = (1, 3)  # DLPack's kDLCPU and kDLCUDAHost


def arrays(inputs: Sequence[Any], label: str = "input") -> list[Any]:
    """Replaces objects that have `__dlpack__`, such as PyTorch's tensors, with arrays that share their memory."""
    return [_array(f"{label} {index}", value) for index, value in enumerate(inputs)]


def _array(label: str, value: Any) -> Any:
    if isinstance(value, (numpy.ndarray, numpy.generic)) or not hasattr(value, "__dlpack__"):
        return value
    if value.__dlpack_device__()[0] not in _CPU_DEVICES:
        raise TypeError(f"{label} is a {type(value).__name__} in another device's memory: copy it to the CPU")
    try:
        return numpy.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise TypeError(f"{label} is a {type(value).__name__} that NumPy cannot read through DLPack: {error}. Its dtype "
                        "must be one that NumPy has") from error
