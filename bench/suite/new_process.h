// What an app pays at its start, measured in a new process.
#pragma once

#include <filesystem>

namespace vitrine::bench {

struct StartFigures {
  double load_ns = 0;   // Program::load of a mapped file
  double init_ns = 0;   // Method::load: kernels found, delegates initialised
  double first_ns = 0;  // the first run
  double peak_bytes = 0;
};

// Medians of `times` processes. ToolError if one fails.
StartFigures measure_start(const std::filesystem::path& program, bool optimized_kernels,
                           size_t threads, int times);

// What such a process does: prints the figures on standard output. Returns its exit code.
int print_start(const std::filesystem::path& program, bool optimized_kernels, size_t threads);

}  // namespace vitrine::bench
