// `bench --choices`: measures which of Vitrine's kernels run operators of delegates faster than
// XNNPACK's kernels on this machine (docs/xnnpack.md#a-table-of-choices).
#pragma once

#include <filesystem>

namespace vitrine::bench {

// Measures on one thread. Writes the table to `file`, in the form that the backend's option
// "choices" reads. Also prints the table as Markdown, with the choices of the built-in rules.
// Temporary files are in `scratch`. In a check run (Extent::kCheck in section.h), measures only one
// size of each case.
void measure_choices(const std::filesystem::path& file, const std::filesystem::path& scratch,
                     bool is_check);

}  // namespace vitrine::bench
