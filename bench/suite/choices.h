// `bench --choices`: compares Vitrine's kernels with XNNPACK's kernels in delegates on this machine
// (docs/xnnpack.md#a-table-of-choices).
#pragma once

#include <filesystem>

namespace vitrine::bench {

// Measures on one thread. Writes the table to `file`, in the form that the backend's option
// "choices" reads. Also prints a Markdown table, which includes the choices of the built-in rules.
// Temporary files are in `scratch`. If `is_check` is true, measures only one size of each case.
void measure_choices(const std::filesystem::path& file, const std::filesystem::path& scratch,
                     bool is_check);

}  // namespace vitrine::bench
