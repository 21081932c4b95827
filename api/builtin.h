// The kernels and backends of this build and of loaded libraries.
#pragma once

#include "vitrine/backend.h"
#include "vitrine/extension.h"
#include "vitrine/kernel_registry.h"

namespace vitrine {

// Both registries exist until the process ends. Both functions are thread-safe. If `optimized` is
// false, the registry omits the optimized kernels, so that the portable kernels run instead.
const KernelRegistry& builtin_kernels(bool optimized = true);
const BackendRegistry& builtin_backends();
// Adds the kernels and backends of a library to the registries of this build. Not thread-safe.
Error add_extension(const Extension& extension);
// Returns InvalidArgument if this build lacks the backend of an option.
Error check_backends(std::span<const BackendOption> options);

}  // namespace vitrine
