// Converts between Python objects (NumPy arrays and numbers) and values of the runtime.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/bundled_program/bundled_program.h"
#include "vitrine/module.h"

namespace vitrine::python {

namespace py = pybind11;

// Returns the NumPy dtype that matches `dtype`: "float32" for f32. NumPy lacks bfloat16, so bf16
// becomes "uint16" with the same bits.
py::dtype numpy_dtype(ScalarType dtype);

// Converts the arguments of a call. Aligned arrays are not copied and must outlive the result. The
// message of a TypeError or ValueError names the input, the expectation and the argument, and may
// suggest a conversion.
std::vector<Value> to_values(const py::args& arguments, const MethodMeta& meta);

// Copies the expected outputs of a method. Throws a TypeError for objects that are not arrays.
std::vector<Value> to_expected(const py::list& outputs, const MethodMeta& meta);

// Tensors of the test set refer to the memory of `values`.
bundled::TestSet to_test_set(std::span<const Value> values);

// Converts a text from a file. Throws HostError if the text is not UTF-8.
py::str to_text(std::string_view text);

// Converts a value to a Python object. If `value` is an array, the object takes over its memory.
py::object to_python(Value value);

}  // namespace vitrine::python
