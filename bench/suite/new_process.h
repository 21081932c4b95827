// Measures the start of a program in a new process.
#pragma once

#include <filesystem>

namespace vitrine::bench {

struct StartFigures {
  double load_ns = 0;     // Program::load of a mapped file
  double init_ns = 0;     // Method::load, which finds kernels and initializes delegates
  double first_ns = 0;    // time of the first run
  double peak_bytes = 0;  // resident memory
};

// Returns the medians of the figures of `times` processes. Throws a ToolError if a process fails.
StartFigures measure_start(const std::filesystem::path& program, bool optimized_kernels,
                           size_t threads, int times);

// Measures one start in this process, which measure_start created. Prints the figures to standard
// output and returns the exit code.
int print_start(const std::filesystem::path& program, bool optimized_kernels, size_t threads);

}  // namespace vitrine::bench
