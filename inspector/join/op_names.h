// Names of operators: as programs and graphs write them, and as people read them.
#pragma once

#include <string>
#include <string_view>

namespace vitrine::inspector {

// "aten.add.Tensor", "aten::add.out" or "add.out" -> "add". A view into `name`.
std::string_view base_name(std::string_view name);

// The op of a kernel, from its name, for programs without a record: "aten::add.out" ->
// "aten.add.out". Stock dumps leave the namespace out; they mean aten mostly: "add.out" ->
// "aten.add.out". Without an overload it is "default".
std::string op_of_kernel(std::string_view kernel);

// For reports: "aten._native_batch_norm_legit_no_training.default" -> "batch_norm",
// "quantized_decomposed.quantize_per_tensor.default" -> "quantize", "aten.view_copy.default" ->
// "view".
std::string short_name(std::string_view op);

}  // namespace vitrine::inspector
