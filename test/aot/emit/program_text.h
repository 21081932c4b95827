// A .pte as text, for comparison: one line a value, an instruction, a segment.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace vitrine::test {

// Shows constants by a hash of their bytes. The file must be well formed.
std::vector<std::string> program_text(std::span<const std::byte> pte);

}  // namespace vitrine::test
