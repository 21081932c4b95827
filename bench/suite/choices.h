// `bench --choices`: compares Vitrine's kernels with XNNPACK's kernels in delegates on this machine
// (docs/xnnpack.md#a-table-of-choices).
#pragma once

#include <filesystem>

namespace vitrine::bench {

// Measures on one thread. Writes the table to `file` for the backend's option "choices". Prints a
// Markdown table that includes the choices of the built-in rules. Temporary files are in `scratch`.
// A check measures only one size of each case.
void measure_choices(const std::filesystem::path& file, const std::filesystem::path& scratch,
                     bool is_check);

}  // namespace vitrine::bench
