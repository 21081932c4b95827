// Relates XNNPACK's kernel names to ops, because ExecuTorch's traces do not have debug handles.
#pragma once

#include <string>
#include <string_view>

namespace vitrine::xnnpack {

// For example, "Fully Connected (NC, F32) GEMM" may run a 1x1 "convolution".
bool may_run(std::string_view kernel, std::string_view op);

// Returns the kernel's name without layouts, and without an operation that the algorithm implies:
// "Mean Reduce2" for "Mean (ND) Reduce2", "DWConv qc8" for "Convolution (NHWC, QC8) DWConv", "GEMM
// qdu8-f32-qb4w #2" for "Fully Connected (NC, QDU8, F32, QB4W) GEMM #2".
std::string short_kernel_name(std::string_view kernel);

bool is_transposition(std::string_view kernel);

}  // namespace vitrine::xnnpack
