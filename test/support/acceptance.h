// The rules of ExecuTorch's program format for writers: header, identifier, alignments, fields that
// loaders need, indices. Written from the format's description, independently of our writer and our
// loader.
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

// The rules that a program breaks, with their places; empty if it keeps all. `pte` must be aligned
// to 16 bytes.
std::vector<std::string> broken_rules(std::span<const std::byte> pte,
                                      const AcceptanceOptions& options = {});

}  // namespace vitrine::test
