// The limits of this machine: float32 multiply-adds and copied bytes per second.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "inspector/join/profile.h"
#include "vitrine/scalar_type.h"

namespace vitrine::tools {

// The processor's name, else its architecture.
std::string machine_name();

// Multiplications and additions a second on this number of threads, as host/multiply_add.h has them
// for f32, f16, bf16 and i8; 0 if the processor has no instruction for them.
double measure_operations(uint32_t threads, ScalarType dtype);

// Takes about half a second and runs on this number of threads.
inspector::MachineLimits measure_machine_limits(uint32_t threads);

// Returns the limits from the cache if it has them for this processor and number of threads, else
// measures and stores them. A cache that cannot be read or written is ignored. `cache`: a file;
// default_cache_file() by default.
inspector::MachineLimits machine_limits(uint32_t threads, const std::filesystem::path& cache);

// $XDG_CACHE_HOME/vitrine/machine_limits.json, else below ~/.cache; empty without a home.
std::filesystem::path default_cache_file();

}  // namespace vitrine::tools
