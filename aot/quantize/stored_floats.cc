#include "aot/quantize/stored_floats.h"

#include <fmt/format.h>

#include <cstring>

#include "aot/graph/aot_error.h"
#include "vitrine/half.h"

namespace vitrine::aot {
namespace {

template <class T>
void read_floats(std::span<const std::byte> bytes, std::vector<float>& to) {
  for (size_t i = 0; i < to.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    to[i] = static_cast<float>(value);
  }
}

template <class T>
void write_floats(const std::vector<float>& values, std::vector<std::byte>& to) {
  to.resize(values.size() * sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<T>(values[i]);
    std::memcpy(to.data() + i * sizeof(T), &value, sizeof(T));
  }
}

// Calls visit(T()), where T is float, Half or BFloat16.
template <class Visit>
void visit_dtype(ScalarType dtype, Visit visit) {
  switch (dtype) {
    case ScalarType::kFloat:
      return visit(float{});
    case ScalarType::kHalf:
      return visit(Half{});
    case ScalarType::kBFloat16:
      return visit(BFloat16{});
    default:
      throw AotError(
          fmt::format("a tensor is {}, but must be f32, f16 or bf16", scalar_type_name(dtype)));
  }
}

}  // namespace

bool is_float(ScalarType dtype) {
  return dtype == ScalarType::kFloat || dtype == ScalarType::kHalf ||
         dtype == ScalarType::kBFloat16;
}

std::vector<float> floats_of(const TensorData& data) {
  const std::vector<std::byte> bytes = row_major_bytes(data);
  std::vector<float> values(static_cast<size_t>(data.numel()));
  visit_dtype(data.dtype, [&](auto value) { read_floats<decltype(value)>(bytes, values); });
  return values;
}

TensorData tensor_of(ScalarType dtype, std::vector<int64_t> sizes,
                     const std::vector<float>& values) {
  std::vector<std::byte> bytes;
  visit_dtype(dtype, [&](auto value) { write_floats<decltype(value)>(values, bytes); });
  return make_tensor_data(dtype, std::move(sizes), std::move(bytes));
}

}  // namespace vitrine::aot
