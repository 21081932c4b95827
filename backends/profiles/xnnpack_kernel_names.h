// Relates XNNPACK's kernel names to ops. Traces of ExecuTorch's runtime contain only these names,
// not debug handles.
#pragma once

#include <string>
#include <string_view>

namespace vitrine::xnnpack {

// Returns true if a kernel with this name may run the op. For example, "Fully Connected (NC, F32)
// GEMM" may run a 1x1 "convolution".
bool may_run(std::string_view kernel, std::string_view op);

// Returns a short name: "DWConv qc8" for "Convolution (NHWC, QC8) DWConv", "GEMM qdu8-f32-qb4w #2"
// for "Fully Connected (NC, QDU8, F32, QB4W) GEMM #2", "Mean Reduce2" for "Mean (ND) Reduce2".
// Omits the layouts. Omits the operation if the algorithm implies it.
std::string short_kernel_name(std::string_view kernel);

bool is_transposition(std::string_view kernel);

}  // namespace vitrine::xnnpack
