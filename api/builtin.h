// The kernels and backends that this build has.
#pragma once

#include "vitrine/backend.h"
#include "vitrine/kernel_registry.h"

namespace vitrine {

// Static tables: they live for the process. Without the optimised kernels the portable ones run
// alone. Thread-safe.
const KernelRegistry& builtin_kernels(bool optimized = true);
const BackendRegistry& builtin_backends();
// InvalidArgument, with the ids that there are, if an option is for another backend.
Error check_backends(std::span<const BackendOption> options);

}  // namespace vitrine
