// The rules of ExecuTorch's format for programs that writers must keep: header, identifier,
// alignments, fields that loaders need, indices. Written from the format's description, apart from
// both our writer and our loader.
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

// The rules that a program breaks, by place; nothing if it keeps all. `pte` is aligned to 16 bytes.
std::vector<std::string> broken_rules(std::span<const std::byte> pte,
                                      const AcceptanceOptions& options = {});

}  // namespace vitrine::test
