// Writes .ptd files: named tensors and payloads outside a program. Format:
// docs/formats/flat_tensor.md.
//
// Host side.
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
  std::optional<TensorLayout> layout = {};  // unset for opaque bytes
  size_t alignment = 1;  // minimum alignment of the data in the file; a power of two
};

// Returns the bytes of the file. Entries keep their order. Entries with equal bytes share a
// segment. Each segment is aligned to 128 bytes and to the alignments of its entries.
//
// Errors: InvalidArgument, which names the entry, if a key is empty or repeated, an alignment is
// not a power of two, the size of the data does not match the layout, or a dim order is not a
// permutation; OutOfResources if the table of entries would need 2 GiB or more.
Result<std::vector<std::byte>> write_flat_tensor(std::span<const NamedBytes> entries);

}  // namespace vitrine
