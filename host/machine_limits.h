// What this machine can do at best: float32 multiply-adds and bytes copied, a second.
#pragma once

#include <cstdint>
#include <filesystem>

#include "inspector/join/profile.h"

namespace vitrine::tools {

// Takes about half a second. Runs as many threads.
inspector::MachineLimits measure_machine_limits(uint32_t threads);

// From the cache if it has them for this processor and number of threads, else measured and put
// there. A cache that cannot be read or written is as good as none. `cache`: a file;
// default_cache_file() by default.
inspector::MachineLimits machine_limits(uint32_t threads, const std::filesystem::path& cache);

// $XDG_CACHE_HOME/vitrine/machine_limits.json, else below ~/.cache; empty without a home.
std::filesystem::path default_cache_file();

}  // namespace vitrine::tools
