// Relates XNNPACK's kernel names to ops. Stock traces contain only these names, not debug handles.
#pragma once

#include <string_view>

namespace vitrine::xnnpack {

// Returns true if a kernel with this name may run the op. For example, "Fully Connected (NC, F32)
// GEMM" may run a 1x1 "convolution".
bool may_run(std::string_view kernel, std::string_view op);

bool is_transposition(std::string_view kernel);

}  // namespace vitrine::xnnpack
