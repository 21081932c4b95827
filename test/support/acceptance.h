// Checks that a program follows the rules of ExecuTorch's program format, such as alignments and
// required fields. The checker is written from the description of the format. It does not use
// Vitrine's writer or loader.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace vitrine::test {

struct AcceptanceOptions {
  size_t segment_alignment = 128;
  size_t constant_tensor_alignment = 16;
  size_t delegate_alignment = 16;
};

// Returns the violated rules with their locations, or an empty list if the program follows all
// rules. `pte` must be 16-byte aligned.
std::vector<std::string> violated_rules(std::span<const std::byte> pte,
                                        const AcceptanceOptions& options = {});

}  // namespace vitrine::test
