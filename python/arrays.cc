#include "python/arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "tools/common/tool_error.h"

namespace vitrine::python {
namespace {

struct DtypeRow {
  ScalarType dtype;
  const char* numpy;
};
constexpr std::array kDtypes = {
    DtypeRow{ScalarType::kByte, "uint8"},
    DtypeRow{ScalarType::kChar, "int8"},
    DtypeRow{ScalarType::kShort, "int16"},
    DtypeRow{ScalarType::kInt, "int32"},
    DtypeRow{ScalarType::kLong, "int64"},
    DtypeRow{ScalarType::kHalf, "float16"},
    DtypeRow{ScalarType::kFloat, "float32"},
    DtypeRow{ScalarType::kDouble, "float64"},
    DtypeRow{ScalarType::kBool, "bool"},
    DtypeRow{ScalarType::kBFloat16, "uint16"},
    DtypeRow{ScalarType::kUInt16, "uint16"},
    DtypeRow{ScalarType::kUInt32, "uint32"},
    DtypeRow{ScalarType::kUInt64, "uint64"},
    DtypeRow{ScalarType::kComplexFloat, "complex64"},
    DtypeRow{ScalarType::kComplexDouble, "complex128"},
};

const char* numpy_name(ScalarType dtype) {
  for (const DtypeRow& row : kDtypes) {
    if (row.dtype == dtype) return row.numpy;
  }
  throw py::type_error(
      fmt::format("arrays of {} are not supported in Python", scalar_type_name(dtype)));
}

// Returns a Python expression that converts `x` to an array of `dtype`.
std::string conversion(ScalarType dtype, bool is_array) {
  const bool is_bfloat16 = dtype == ScalarType::kBFloat16;
  // NumPy 1.24 to 1.26 lack numpy.bool.
  const char* name = is_bfloat16                  ? "float32"
                     : dtype == ScalarType::kBool ? "bool_"
                                                  : numpy_name(dtype);
  const std::string converted =
      fmt::format("{}numpy.{})", is_array ? "x.astype(" : "numpy.asarray(x, ", name);
  if (!is_bfloat16) return converted;
  return fmt::format("({}.view(numpy.uint32) >> 16).astype(numpy.uint16)", converted);
}

// Formats a dtype and a shape: "float32 (1, 3, 224, 224)".
template <class Range>
std::string text_of(const std::string& dtype, const Range& sizes) {
  std::string text = dtype + " (";
  for (size_t i = 0; i < std::size(sizes); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", sizes[i]);
  return text + (std::size(sizes) == 1 ? ",)" : ")");
}

std::string text_of(const py::array& array) {
  return text_of(py::str(array.dtype()).cast<std::string>(),
                 std::span(array.shape(), static_cast<size_t>(array.ndim())));
}

bool has_valid_shape(const py::array& array, const TensorInfo& info) {
  if (static_cast<size_t>(array.ndim()) != info.sizes.size()) return false;
  for (size_t i = 0; i < info.sizes.size(); ++i) {
    const py::ssize_t size = array.shape(static_cast<py::ssize_t>(i));
    const bool is_bound = info.dynamism != ShapeDynamism::kStatic;
    if (is_bound ? size > info.sizes[i] : size != info.sizes[i]) return false;
  }
  return true;
}

bool is_masked(const py::handle& argument) {
  return py::isinstance(argument, py::module_::import("numpy.ma").attr("MaskedArray"));
}

Value to_array(const py::handle& argument, const TensorInfo& info, const std::string& label) {
  if (!py::isinstance<py::array>(argument)) {
    throw py::type_error(fmt::format("{} must be a NumPy array, got {}: {}", label,
                                     Py_TYPE(argument.ptr())->tp_name,
                                     conversion(info.dtype, /*is_array=*/false)));
  }
  if (is_masked(argument)) {
    throw py::type_error(
        fmt::format("{} is a masked array, whose mask would be lost: use x.filled(value)", label));
  }
  auto array = py::reinterpret_borrow<py::array>(argument);
  const bool is_dynamic = info.dynamism != ShapeDynamism::kStatic;
  const std::string expected =
      text_of(numpy_name(info.dtype), info.sizes) + (is_dynamic ? " or smaller" : "") +
      (info.dtype == ScalarType::kBFloat16 ? " with the bits of bfloat16 values" : "");
  // Dtypes that differ only in byte order are not equal.
  if (!array.dtype().equal(numpy_dtype(info.dtype))) {
    throw py::type_error(fmt::format("{} must be {}, got {}: {}", label, expected, text_of(array),
                                     conversion(info.dtype, /*is_array=*/true)));
  }
  if (!has_valid_shape(array, info)) {
    throw py::value_error(fmt::format("{} must be {}, got {}: reshape, crop or pad it", label,
                                      expected, text_of(array)));
  }
  if ((array.flags() & py::array::c_style) == 0) {
    throw py::value_error(
        fmt::format("{} must be in row-major (C) order: use numpy.ascontiguousarray(x)", label));
  }
  std::vector<int32_t> sizes;
  for (py::ssize_t i = 0; i < array.ndim(); ++i)
    sizes.push_back(static_cast<int32_t>(array.shape(i)));
  // The runtime does not write to inputs.
  auto* data = static_cast<std::byte*>(const_cast<void*>(array.data()));
  const std::span memory(data, static_cast<size_t>(array.nbytes()));
  if (reinterpret_cast<uintptr_t>(data) % element_size(info.dtype) != 0) {
    return tools::check(Array::copy_of(info.dtype, memory, sizes));
  }
  return tools::check(Array::borrow(info.dtype, memory, sizes));
}

// Converts NumPy scalars and 0-d arrays to Python numbers. Returns other objects unchanged.
py::object to_python_number(const py::handle& argument) {
  const bool is_scalar = py::isinstance(argument, py::module_::import("numpy").attr("generic")) ||
                         (py::isinstance<py::array>(argument) && !is_masked(argument) &&
                          py::reinterpret_borrow<py::array>(argument).ndim() == 0);
  return is_scalar ? argument.attr("item")() : py::reinterpret_borrow<py::object>(argument);
}

// Converts an object to an int. Returns an empty object if `number` lacks __index__ or is a NumPy
// array. Arrays of one element have __index__, but do not count as numbers.
py::object to_int(const py::object& number) {
  if (PyIndex_Check(number.ptr()) == 0 || py::isinstance<py::array>(number)) return {};
  auto integer = py::reinterpret_steal<py::object>(PyNumber_Index(number.ptr()));
  if (!integer) PyErr_Clear();
  return integer;
}

// Converts a number, a str or None to a value of the kind `tag`. An int can become a float. Other
// mismatches return nullopt. Throws py::cast_error if an int is too large.
std::optional<Value> to_number(const py::object& number, EValue::Tag tag) {
  PyObject* object = number.ptr();
  switch (tag) {
    case EValue::Tag::kInt:
      if (const py::object integer = to_int(number)) return integer.cast<int64_t>();
      return std::nullopt;
    case EValue::Tag::kDouble:
      if (PyFloat_Check(object)) return number.cast<double>();
      if (const py::object integer = to_int(number)) return integer.cast<double>();
      return std::nullopt;
    case EValue::Tag::kBool:
      if (!PyBool_Check(object)) return std::nullopt;
      return number.cast<bool>();
    case EValue::Tag::kString:
      if (!PyUnicode_Check(object)) return std::nullopt;
      return number.cast<std::string>();
    case EValue::Tag::kNone:
      if (!number.is_none()) return std::nullopt;
      return Value();
    default:
      return std::nullopt;
  }
}

// Returns the Python name of a kind, or null if the Python package does not support the kind.
const char* python_name(EValue::Tag tag) {
  switch (tag) {
    case EValue::Tag::kInt:
      return "an int";
    case EValue::Tag::kDouble:
      return "a float";
    case EValue::Tag::kBool:
      return "a bool";
    case EValue::Tag::kString:
      return "a str";
    case EValue::Tag::kNone:
      return "None";
    default:
      return nullptr;
  }
}

Value to_value(const py::handle& argument, const MethodMeta& meta, size_t index) {
  const std::string label = fmt::format("input {} of {}", index, meta.name());
  const EValue::Tag tag = meta.input_tag(index);
  if (tag == EValue::Tag::kTensor) return to_array(argument, meta.input_tensor(index), label);
  std::optional<Value> value;
  try {
    value = to_number(to_python_number(argument), tag);
  } catch (const py::cast_error&) {
    throw py::value_error(fmt::format("{} does not fit into 64 bits", label));
  }
  if (value) return std::move(*value);
  const char* const expected = python_name(tag);
  if (expected == nullptr) {
    throw py::type_error(fmt::format("{} is a list, which is not supported in Python", label));
  }
  throw py::type_error(
      fmt::format("{} must be {}, got {}", label, expected, Py_TYPE(argument.ptr())->tp_name));
}

}  // namespace

py::dtype numpy_dtype(ScalarType dtype) { return py::dtype(numpy_name(dtype)); }

std::vector<Value> to_values(const py::args& arguments, const MethodMeta& meta) {
  if (arguments.size() != meta.num_inputs()) {
    throw py::type_error(fmt::format("{} takes {} inputs, got {}", meta.name(), meta.num_inputs(),
                                     arguments.size()));
  }
  std::vector<Value> values;
  for (size_t i = 0; i < arguments.size(); ++i) values.push_back(to_value(arguments[i], meta, i));
  return values;
}

std::vector<Value> to_expected(const py::list& outputs, const MethodMeta& meta) {
  std::vector<Value> values;
  for (const py::handle output : outputs) {
    const std::string label = fmt::format("expected output {}", values.size());
    if (!py::isinstance<py::array>(output) || is_masked(output)) {
      throw py::type_error(
          fmt::format("{} must be a NumPy array, got {}", label, Py_TYPE(output.ptr())->tp_name));
    }
    const auto array = py::reinterpret_steal<py::array>(
        py::module_::import("numpy").attr("ascontiguousarray")(output).release());
    const auto row = std::ranges::find_if(kDtypes, [&](const DtypeRow& each) {
      return each.dtype != ScalarType::kBFloat16 && array.dtype().equal(py::dtype(each.numpy));
    });
    if (row == kDtypes.end()) {
      throw py::type_error(fmt::format("{} has the dtype {}, which outputs do not support", label,
                                       py::str(array.dtype()).cast<std::string>()));
    }
    // `array` is 1-d if `output` is 0-d, so the shape comes from `output`.
    const auto shape = output.attr("shape").cast<std::vector<int32_t>>();
    const size_t i = values.size();
    const bool is_bfloat16 = row->dtype == ScalarType::kUInt16 && i < meta.num_outputs() &&
                             meta.output_tag(i) == EValue::Tag::kTensor &&
                             meta.output_tensor(i).dtype == ScalarType::kBFloat16;
    const std::span bytes(static_cast<const std::byte*>(array.data()),
                          static_cast<size_t>(array.nbytes()));
    values.emplace_back(tools::check(
        Array::copy_of(is_bfloat16 ? ScalarType::kBFloat16 : row->dtype, bytes, shape)));
  }
  return values;
}

bundled::TestSet to_test_set(std::span<const Value> values) {
  bundled::TestSet set;
  for (const Value& value : values) {
    if (const Array* array = value.array()) {
      bundled::BundledTensor tensor;
      tensor.dtype = array->dtype();
      tensor.data = array->bytes();
      tensor.sizes.assign(array->sizes().begin(), array->sizes().end());
      tensor.dim_order.resize(tensor.sizes.size());
      std::iota(tensor.dim_order.begin(), tensor.dim_order.end(), uint8_t{0});
      set.inputs.emplace_back(std::move(tensor));
    } else if (const int64_t* integer = value.integer()) {
      set.inputs.emplace_back(*integer);
    } else if (const double* real = value.real()) {
      set.inputs.emplace_back(*real);
    } else if (const bool* boolean = value.boolean()) {
      set.inputs.emplace_back(*boolean);
    } else {
      throw py::type_error("profile() accepts only arrays and numbers as inputs");
    }
  }
  return set;
}

py::str to_text(std::string_view text) {
  PyObject* const decoded =
      PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), nullptr);
  if (decoded != nullptr) return py::reinterpret_steal<py::str>(decoded);
  PyErr_Clear();
  throw HostError(fmt::format("a name or text in the file is not UTF-8: \"{}\"", text));
}

py::object to_python(Value value) {
  if (const int64_t* integer = value.integer()) return py::int_(*integer);
  if (const double* real = value.real()) return py::float_(*real);
  if (const bool* boolean = value.boolean()) return py::bool_(*boolean);
  if (const std::string* string = value.string()) return to_text(*string);
  if (value.array() == nullptr) return py::none();
  auto owner = std::make_unique<Array>(std::move(*value.array()));
  const Array& array = *owner;
  const std::vector<py::ssize_t> sizes(array.sizes().begin(), array.sizes().end());
  const void* data = array.bytes().data();
  const py::dtype dtype = numpy_dtype(array.dtype());
  const py::capsule keeper(owner.release(), [](void* owned) { delete static_cast<Array*>(owned); });
  return py::array(dtype, sizes, data, keeper);
}

}  // namespace vitrine::python
