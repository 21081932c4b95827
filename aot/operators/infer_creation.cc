// Infers the results of operators that create, copy and convert tensors.
#include <cmath>
#include <cstdlib>

#include "aot/operators/infer.h"
#include "aot/operators/results.h"
#include "aot/operators/strides.h"

namespace vitrine::aot::results {
namespace {

ScalarType dtype_of(const Argument& number) {
  if (number.get<bool>() != nullptr) return ScalarType::kBool;
  if (number.get<int64_t>() != nullptr) return ScalarType::kLong;
  const Node* node = number.node();
  if (node != nullptr && node->meta.value.number() != nullptr) {
    switch (node->meta.value.number()->kind) {
      case Value::Number::Kind::kInt:
        return ScalarType::kLong;
      case Value::Number::Kind::kBool:
        return ScalarType::kBool;
      case Value::Number::Kind::kFloat:
        break;
    }
  }
  return ScalarType::kFloat;
}

// Sets the strides for the memory format that the call requests. kPreserve keeps dense strides.
void apply_memory_format(const Call& call, TensorSpec& spec,
                         MemoryFormat fallback = MemoryFormat::kPreserve) {
  const Argument* requested = call.find("memory_format");
  const auto* format = requested == nullptr ? nullptr : requested->get<MemoryFormat>();
  spec.storage_offset = 0;
  switch (format == nullptr ? fallback : *format) {
    case MemoryFormat::kContiguous:
      spec.strides = contiguous_strides(spec.sizes);
      return;
    case MemoryFormat::kChannelsLast:
    case MemoryFormat::kChannelsLast3d:
      if (spec.rank() < 4 || spec.rank() > 5)
        call.refuse("the channels-last memory format needs 4 or 5 dims");
      spec.strides = channels_last_strides(spec.sizes);
      return;
    case MemoryFormat::kPreserve:
      break;
  }
  const TensorSpec before = spec;
  const TensorSpec* const inputs[] = {&before};
  if (!is_dense(spec)) spec.strides = elementwise_strides(inputs, spec.sizes);
}

}  // namespace

Value full(const Call& call) {
  const Argument* value = call.find("fill_value");
  return contiguous_spec(
      call.dtype("dtype", value == nullptr ? ScalarType::kFloat : dtype_of(*value)),
      call.sizes("size"));
}

Value filled(const Call& call) {
  return contiguous_spec(call.dtype("dtype", ScalarType::kFloat), call.sizes("size"));
}

Value scalar_tensor(const Call& call) {
  return contiguous_spec(call.dtype("dtype", ScalarType::kFloat), {});
}

Value copied(const Call& call) {
  TensorSpec spec = call.self();
  spec.dtype = call.dtype("dtype", spec.dtype);
  apply_memory_format(call, spec);
  return spec;
}

Value contiguous_copy(const Call& call) {
  TensorSpec spec = call.self();
  const Argument* format = call.find("memory_format");
  const bool is_row_major = format == nullptr || format->get<MemoryFormat>() == nullptr ||
                            *format->get<MemoryFormat>() == MemoryFormat::kContiguous;
  if (is_row_major && is_contiguous(spec)) return spec;
  apply_memory_format(call, spec, MemoryFormat::kContiguous);
  return spec;
}

Value converted(const Call& call) {
  TensorSpec spec = call.self();
  const ScalarType dtype = call.dtype("dtype", spec.dtype);
  if (dtype == spec.dtype && !call.boolean("copy") && call.find("memory_format") == nullptr) {
    return spec;
  }
  spec.dtype = dtype;
  apply_memory_format(call, spec);
  return spec;
}

Value arange(const Call& call) {
  const Argument* start = call.find("start");
  const Argument* end = call.find("end");
  const Argument* step = call.find("step");
  if (end == nullptr) call.refuse("end is missing");
  const bool is_float = (start != nullptr && start->get<double>() != nullptr) ||
                        end->get<double>() != nullptr ||
                        (step != nullptr && step->get<double>() != nullptr);
  const ScalarType dtype = call.dtype("dtype", is_float ? ScalarType::kFloat : ScalarType::kLong);
  const auto number = [&](const Argument* argument, double fallback) {
    if (argument == nullptr) return fallback;
    if (const auto* value = argument->get<double>()) return *value;
    if (const auto* value = argument->get<int64_t>()) return static_cast<double>(*value);
    call.refuse("start, end and step must be numbers");
  };
  if (is_float) {
    const double length = std::ceil((number(end, 0) - number(start, 0)) / number(step, 1));
    if (!(length >= 0) || length > 1e15) call.refuse("step must have the same sign as end - start");
    return contiguous_spec(dtype, {SymInt(static_cast<int64_t>(length))});
  }
  const SymInt first = call.size("start", 0);
  const int64_t by = call.integer("step", 1);
  const SymInt distance = call.size("end") - first;
  if (by == 0) call.refuse("step must not be 0");
  if (distance.is_static()) {
    constexpr int64_t kMax = INT64_C(1) << 62;
    if (std::abs(distance.value() / 2) > kMax / 2 || by > kMax || by < -kMax) {
      call.refuse("the step, or the range from start to end, is too large");
    }
    const int64_t length =
        by > 0 ? (distance.value() + by - 1) / by : (distance.value() + by + 1) / by;
    if (length < 0) call.refuse("step must have the same sign as end - start");
    return contiguous_spec(dtype, {SymInt(length)});
  }
  if (by < 0) call.refuse("step must be positive if start or end is symbolic");
  return contiguous_spec(dtype, {(distance + SymInt(by - 1)) / SymInt(by)});
}

Value eye(const Call& call) {
  const SymInt rows = call.size("n");
  return contiguous_spec(call.dtype("dtype", ScalarType::kFloat), {rows, call.size("m", rows)});
}

Value linspace(const Call& call) {
  return contiguous_spec(call.dtype("dtype", ScalarType::kFloat), {call.size("steps")});
}

Value quantized(const Call& call) {
  TensorSpec spec = call.self();
  spec.dtype = call.dtype("dtype", ScalarType::kChar);
  apply_memory_format(call, spec);
  return spec;
}
Value dequantized(const Call& call) {
  TensorSpec spec = call.self();
  spec.dtype = call.dtype("out_dtype", ScalarType::kFloat);
  apply_memory_format(call, spec);
  return spec;
}
// choose_qparams returns a scale and a zero point.
Value quantization_parameters(const Call&) {
  return Value::Items{contiguous_spec(ScalarType::kDouble, {SymInt(1)}),
                      contiguous_spec(ScalarType::kLong, {SymInt(1)})};
}

}  // namespace vitrine::aot::results
