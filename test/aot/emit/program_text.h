// Prints a .pte as text for comparison: one line per value, instruction and segment.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace vitrine::test {

// Prints a hash of the bytes of each constant. The file must be valid.
std::vector<std::string> program_text(std::span<const std::byte> pte);

}  // namespace vitrine::test
