// Results of what makes tensors, copies and converts them.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "aot/shapes/infer.h"
#include "aot/shapes/strides.h"

namespace vitrine::aot {
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

Value full(const Call& call) {
  const Argument* value = call.find(1, "fill_value");
  return contiguous_spec(
      call.dtype(99, "dtype", value == nullptr ? ScalarType::kFloat : dtype_of(*value)),
      call.sizes(0, "size"));
}

Value made(const Call& call) {
  return contiguous_spec(call.dtype(99, "dtype", ScalarType::kFloat), call.sizes(0, "size"));
}

Value scalar_tensor(const Call& call) {
  return contiguous_spec(call.dtype(99, "dtype", ScalarType::kFloat), {});
}

// As asked; "preserve" is the input's own layout where it is dense.
void lay_out(const Call& call, TensorSpec& spec, size_t index, MemoryFormat fallback) {
  const Argument* asked = call.find(index, "memory_format");
  const auto* format = asked == nullptr ? nullptr : asked->get<MemoryFormat>();
  spec.storage_offset = 0;
  switch (format == nullptr ? fallback : *format) {
    case MemoryFormat::kContiguous:
      spec.strides = contiguous_strides(spec.sizes);
      return;
    case MemoryFormat::kChannelsLast:
    case MemoryFormat::kChannelsLast3d:
      if (spec.rank() < 4 || spec.rank() > 5) call.refuse("channels last is of 4 or 5 dims");
      spec.strides = channels_last_strides(spec.sizes);
      return;
    case MemoryFormat::kPreserve:
      break;
  }
  const TensorSpec before = spec;
  const TensorSpec* const inputs[] = {&before};
  if (!is_dense(spec)) spec.strides = elementwise_strides(inputs, spec.sizes);
}

template <size_t format_at>
Value copied(const Call& call) {
  TensorSpec spec = call.tensor(0, "self");
  spec.dtype = call.dtype(99, "dtype", spec.dtype);
  lay_out(call, spec, format_at, MemoryFormat::kPreserve);
  return spec;
}

Value contiguous(const Call& call) {
  TensorSpec spec = call.tensor(0, "self");
  const Argument* format = call.find(1, "memory_format");
  const bool rows = format == nullptr || format->get<MemoryFormat>() == nullptr ||
                    *format->get<MemoryFormat>() == MemoryFormat::kContiguous;
  if (rows && is_contiguous(spec)) return spec;
  lay_out(call, spec, 1, MemoryFormat::kContiguous);
  return spec;
}

// to.dtype(self, dtype, non_blocking, copy, memory_format)
Value converted(const Call& call) {
  TensorSpec spec = call.tensor(0, "self");
  const ScalarType dtype = call.dtype(1, "dtype", spec.dtype);
  if (dtype == spec.dtype && !call.boolean(3, "copy", false) &&
      call.find(4, "memory_format") == nullptr) {
    return spec;
  }
  spec.dtype = dtype;
  lay_out(call, spec, 4, MemoryFormat::kPreserve);
  return spec;
}

Value arange(const Call& call) {
  const bool has_start = call.target().overload() != "default";
  const Argument* start = has_start ? call.find(0, "start") : nullptr;
  const Argument* end = call.find(has_start ? 1 : 0, "end");
  const Argument* step = call.find(2, "step");
  if (end == nullptr) call.refuse("its end is missing");
  const bool is_float = (start != nullptr && start->get<double>() != nullptr) ||
                        end->get<double>() != nullptr ||
                        (step != nullptr && step->get<double>() != nullptr);
  const ScalarType dtype =
      call.dtype(99, "dtype", is_float ? ScalarType::kFloat : ScalarType::kLong);
  const auto number = [&](const Argument* argument, double fallback) {
    if (argument == nullptr) return fallback;
    if (const auto* value = argument->get<double>()) return *value;
    if (const auto* value = argument->get<int64_t>()) return static_cast<double>(*value);
    call.refuse("it runs to something that is no number");
  };
  if (is_float) {
    const double length = std::ceil((number(end, 0) - number(start, 0)) / number(step, 1));
    if (!(length >= 0) || length > 1e15) call.refuse("it never arrives");
    return contiguous_spec(dtype, {SymInt(static_cast<int64_t>(length))});
  }
  const SymInt first = start == nullptr ? SymInt(0) : call.size(0, "start");
  const int64_t by = call.integer(2, "step", 1);
  const SymInt distance = call.size(has_start ? 1 : 0, "end") - first;
  if (by == 0) call.refuse("its step is 0");
  if (distance.is_static()) {
    constexpr int64_t kMost = INT64_C(1) << 62;
    if (std::abs(distance.value() / 2) > kMost / 2 || by > kMost || by < -kMost) {
      call.refuse("it runs too far");
    }
    const int64_t length =
        by > 0 ? (distance.value() + by - 1) / by : (distance.value() + by + 1) / by;
    if (length < 0) call.refuse("it never arrives");
    return contiguous_spec(dtype, {SymInt(length)});
  }
  if (by < 0) call.refuse("it counts a symbol down");
  return contiguous_spec(dtype, {(distance + SymInt(by - 1)) / SymInt(by)});
}

Value eye(const Call& call) {
  const SymInt rows = call.size(0, "n");
  const bool square = call.target().overload() == "default";
  return contiguous_spec(call.dtype(99, "dtype", ScalarType::kFloat),
                         {rows, square ? rows : call.size(1, "m")});
}

Value linspace(const Call& call) {
  return contiguous_spec(call.dtype(99, "dtype", ScalarType::kFloat), {call.size(2, "steps")});
}

// quantize_per_tensor(input, scale, zero_point, min, max, dtype); per channel the axis comes
// between.
template <size_t dtype_at>
Value quantized(const Call& call) {
  TensorSpec spec = call.tensor(0, "input");
  spec.dtype = call.dtype(dtype_at, "dtype", ScalarType::kChar);
  lay_out(call, spec, 99, MemoryFormat::kPreserve);
  return spec;
}
Value dequantized(const Call& call) {
  TensorSpec spec = call.tensor(0, "input");
  spec.dtype = call.dtype(99, "out_dtype", ScalarType::kFloat);
  lay_out(call, spec, 99, MemoryFormat::kPreserve);
  return spec;
}
// A scale and a zero point.
Value quantization_parameters(const Call&) {
  return Value::Items{contiguous_spec(ScalarType::kDouble, {SymInt(1)}),
                      contiguous_spec(ScalarType::kLong, {SymInt(1)})};
}

constexpr InferRow kMakerResults[] = {
    {"aten._conj_physical.default", copied<99>},
    {"aten._to_copy.default", copied<99>},
    {"aten.arange.default", arange},
    {"aten.arange.start", arange},
    {"aten.arange.start_step", arange},
    {"aten.clone.default", copied<99>},
    {"aten.conj_physical.default", copied<99>},
    {"aten.contiguous.default", contiguous},
    {"aten.empty.memory_format", made},
    {"aten.empty_like.default", copied<99>},
    {"aten.eye.default", eye},
    {"aten.eye.m", eye},
    {"aten.full.default", full},
    {"aten.full_like.default", copied<99>},
    {"aten.lift_fresh_copy.default", copied<99>},
    {"aten.linspace.default", linspace},
    {"aten.ones.default", made},
    {"aten.ones_like.default", copied<99>},
    {"aten.scalar_tensor.default", scalar_tensor},
    {"aten.to.dtype", converted},
    {"quantized_decomposed.choose_qparams.tensor", quantization_parameters},
    {"quantized_decomposed.dequantize_per_channel.default", dequantized},
    {"quantized_decomposed.dequantize_per_tensor.default", dequantized},
    {"quantized_decomposed.dequantize_per_tensor.tensor", dequantized},
    {"quantized_decomposed.quantize_per_channel.default", quantized<6>},
    {"quantized_decomposed.quantize_per_tensor.default", quantized<5>},
    {"quantized_decomposed.quantize_per_tensor.tensor", quantized<5>},
    {"aten.zeros.default", made},
    {"aten.zeros_like.default", copied<99>},
};

}  // namespace

std::span<const InferRow> maker_results() { return kMakerResults; }

}  // namespace vitrine::aot
