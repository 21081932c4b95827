// Checks the rules of ExecuTorch's program format for writers: header, identifier, alignments,
// required fields, indices. The checker follows the format's description, and does not use our
// writer or loader.
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

// Returns the violated rules with their locations; empty if there are none. `pte` must be 16-byte
// aligned.
std::vector<std::string> violated_rules(std::span<const std::byte> pte,
                                        const AcceptanceOptions& options = {});

}  // namespace vitrine::test
