// NumPy arrays and numbers <-> values of the runtime.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <span>
#include <string>
#include <vector>

#include "formats/bundled_program/bundled_program.h"
#include "vitrine/module.h"

namespace vitrine::python {

namespace py = pybind11;

// "float32"; bfloat16, which NumPy lacks, is "uint16": the same bits.
py::dtype numpy_dtype(ScalarType dtype);

// The arguments of a call as inputs of a method. Arrays stay in NumPy's memory, which the caller
// keeps until the values are gone. TypeError or ValueError names the input, what it is, what the
// method takes, and what to do.
std::vector<Value> to_values(const py::args& arguments, const MethodMeta& meta);

// The same for the host side: spans into `values`.
bundled::TestSet to_test_set(std::span<const Value> values);

// Arrays take over the memory of `value`.
py::object to_python(Value value);

}  // namespace vitrine::python
