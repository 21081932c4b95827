// Returns the kernels and backends of this build, and those of loaded libraries.
#pragma once

#include "vitrine/backend.h"
#include "vitrine/extension.h"
#include "vitrine/kernel_registry.h"

namespace vitrine {

// The registries exist until the process ends. If `optimized` is false, the registry omits the
// optimized kernels, so that the portable ones run instead. Thread-safe.
const KernelRegistry& builtin_kernels(bool optimized = true);
const BackendRegistry& builtin_backends();
// Adds the kernels and backends of a library to the registries of this build. Not thread-safe.
Error add_extension(const Extension& extension);
// If an option is for a backend that this build lacks, returns InvalidArgument with a list of the
// backends of this build.
Error check_backends(std::span<const BackendOption> options);

}  // namespace vitrine
