#include "aot/import/tensor_meta.h"

#include "aot/import/expression_parser.h"
#include "aot/import/import_error.h"
#include "aot/import/import_limits.h"
#include "base/serialized_dtypes.h"

namespace vitrine::aot {
ScalarType read_dtype(const JsonValue& value) {
  const int64_t number = value.integer();
  const std::optional<ScalarType> dtype = dtype_of_number(DtypeNumbering::kTorchExport, number);
  if (!dtype) value.fail(fmt::format("unknown dtype {}", number));
  return *dtype;
}

MemoryFormat read_memory_format(const JsonValue& value) {
  const int64_t number = value.integer();
  if (number < 1 || number > 4) value.fail(fmt::format("unknown memory format {}", number));
  return static_cast<MemoryFormat>(number - 1);
}

Layout read_layout(const JsonValue& value) {
  constexpr int64_t kStrided = 7;
  const int64_t number = value.integer();
  if (number < 1 || number > kStrided) value.fail(fmt::format("unknown layout {}", number));
  return number == kStrided ? Layout::kStrided : static_cast<Layout>(number);
}

Device read_device(const JsonValue& value) {
  Device device;
  device.type = value.at("type").string();
  if (value.holds("index")) device.index = value.at("index").integer();
  return device;
}

SymInt read_sym_int(const JsonValue& value) {
  const auto [kind, content] = value.variant();
  if (kind == "as_int") return content.integer();
  if (kind == "as_bool") return content.boolean() ? 1 : 0;
  if (kind == "as_float") return SymInt(Expression::real(content.number()));
  if (kind != "as_expr") value.fail(fmt::format("expected a number, found {}", kind));
  const JsonValue text = content.at("expr_str");
  try {
    return SymInt(parse_expression(text.string()));
  } catch (const AotError& error) {
    text.fail(error.what());
  }
}

TensorSpec read_tensor_meta(const JsonValue& value) {
  TensorSpec spec;
  spec.dtype = read_dtype(value.at("dtype"));
  const JsonValue sizes = value.at("sizes");
  if (sizes.size() > kMaxRank) {
    sizes.fail(fmt::format("has {} dims, more than the maximum of {}", sizes.size(), kMaxRank));
  }
  sizes.each_item([&](const JsonValue& size) {
    spec.sizes.push_back(read_sym_int(size));
    if (spec.sizes.back().is_static() && spec.sizes.back().value() < 0) {
      size.fail(fmt::format("size {} is negative", spec.sizes.back().value()));
    }
  });
  value.at("strides").each_item(
      [&](const JsonValue& stride) { spec.strides.push_back(read_sym_int(stride)); });
  if (spec.strides.size() != spec.sizes.size()) {
    value.fail(fmt::format("has {} sizes but {} strides", spec.sizes.size(), spec.strides.size()));
  }
  spec.storage_offset = read_sym_int(value.at("storage_offset"));
  spec.device = read_device(value.at("device"));
  spec.layout = read_layout(value.at("layout"));
  spec.requires_grad = value.at("requires_grad").boolean();
  return spec;
}

}  // namespace vitrine::aot
