// Measures this machine's limits: float32 multiply-adds and copied bytes per second.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "inspector/join/profile.h"
#include "vitrine/scalar_type.h"

namespace vitrine::tools {

// Returns the processor's name, or the architecture if the name is unknown.
std::string machine_name();

// Measures the multiplications and additions of `dtype` per second (multiply_add.h). Returns 0 if
// the processor has no instruction for `dtype`, or if a thread had to wait for a processor in each
// trial.
double measure_operations(uint32_t threads, ScalarType dtype);

// Takes about half a second, and up to four seconds on a busy machine. Ignores trials in which a
// thread waited for a processor. A limit is 0 if all of its trials were ignored.
inspector::MachineLimits measure_machine_limits(uint32_t threads);

// Returns the limits in the file `cache` for this processor and number of threads. Measures and
// stores the limits if the cache lacks them or `measure_again` is set. Ignores errors of the cache.
// An empty path means no cache. If the machine is too busy, a limit is 0 and nothing is stored.
inspector::MachineLimits machine_limits(uint32_t threads, const std::filesystem::path& cache,
                                        bool measure_again = false);

// If the machine is too busy, returns nullopt and adds a warning to `warnings`.
std::optional<inspector::MachineLimits> limits_for_profile(uint32_t threads,
                                                           std::vector<std::string>& warnings);

// Returns vitrine/machine_limits.json in $XDG_CACHE_HOME, if that is an absolute path, or else in
// ~/.cache. Without a home folder, returns an empty path.
std::filesystem::path default_cache_file();

}  // namespace vitrine::tools
