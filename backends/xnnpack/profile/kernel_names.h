// What XNNPACK calls its kernels, as stock traces log them: without debug handles.
#pragma once

#include <string_view>

namespace vitrine::xnnpack {

// Whether a kernel of that name may run the op: "Fully Connected (NC, F32) GEMM" a 1x1
// "convolution".
bool may_run(std::string_view kernel, std::string_view op);

bool is_transposition(std::string_view kernel);

}  // namespace vitrine::xnnpack
