// Writes .ptd files: named tensors and blobs outside a program. Format:
// docs/formats/flat_tensor.md.
//
// Runs where programs are made; a library of its own, which devices do not link.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "vitrine/named_data.h"

namespace vitrine {

struct NamedBytes {
  std::string_view key;
  std::span<const std::byte> data;
  std::optional<TensorLayout> layout = {};  // empty: opaque bytes
  size_t alignment = 1;  // of the data, from where segments begin; a power of two
};

// Entries keep their order; those with equal bytes share a segment, each segment begins at a
// multiple of 128 and of what its entries ask for. InvalidArgument names the entry: a key that is
// empty or taken, an alignment that is not a power of two, data that are not as large as their
// layout says, a dim order that is not a permutation. OutOfResources if the table of entries would
// be 2 GiB.
Result<std::vector<std::byte>> write_flat_tensor(std::span<const NamedBytes> entries);

}  // namespace vitrine
