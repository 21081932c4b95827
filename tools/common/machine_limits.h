// Measures the limits of this machine: float32 multiply-adds and copied bytes per second.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "inspector/join/profile.h"
#include "vitrine/scalar_type.h"

namespace vitrine::tools {

// Returns the processor's name, or its architecture if the name is unknown.
std::string machine_name();

// Measures the number of multiplications and additions of `dtype` per second on `threads` threads
// (tools/common/multiply_add.h). Returns 0 if the processor has no instruction for `dtype`, or if a
// thread had to wait for a processor in each trial.
double measure_operations(uint32_t threads, ScalarType dtype);

// Measures the limits on `threads` threads. Takes about half a second, and up to four seconds on a
// busy machine. Ignores trials in which a thread had to wait for a processor. If all trials of a
// limit were ignored, that limit is 0.
inspector::MachineLimits measure_machine_limits(uint32_t threads);

// Returns the limits that the file `cache` has for this processor and number of threads. If it has
// none, or if `measure_again` is set, measures and stores the limits. Ignores a cache that cannot
// be read or written. An empty path means no cache. A limit is 0, and nothing is stored, if the
// machine was too busy to measure it.
inspector::MachineLimits machine_limits(uint32_t threads, const std::filesystem::path& cache,
                                        bool measure_again = false);

// Returns the limits for a profile. If the machine was too busy to measure them, returns nullopt
// and adds a warning to `warnings`.
std::optional<inspector::MachineLimits> limits_for_profile(uint32_t threads,
                                                           std::vector<std::string>& warnings);

// Returns $XDG_CACHE_HOME/vitrine/machine_limits.json. If the variable is not an absolute path,
// uses ~/.cache instead. Without a home folder, returns an empty path.
std::filesystem::path default_cache_file();

}  // namespace vitrine::tools
