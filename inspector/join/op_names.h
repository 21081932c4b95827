#pragma once

#include <string>
#include <string_view>

namespace vitrine::inspector {

// Returns the base name of an op: "aten.add.Tensor", "aten::add.out" or "add.out" -> "add". The
// result is a view into `name`.
std::string_view base_name(std::string_view name);

// Returns the op that a kernel implements, for programs without a record: "aten::add.out" ->
// "aten.add.out". The default namespace is aten, because stock dumps omit the namespace. The
// default overload is "default".
std::string op_of_kernel(std::string_view kernel);

// Returns the name of an op in reports: "aten._native_batch_norm_legit_no_training.default" ->
// "batch_norm", "quantized_decomposed.quantize_per_tensor.default" -> "quantize",
// "aten.view_copy.default" -> "view".
std::string short_name(std::string_view op);

}  // namespace vitrine::inspector
