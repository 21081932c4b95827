// Writes .ptd files, which hold tensors and other data outside a program, each under a key. Format:
// docs/formats/flat_tensor.md. Host side.
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
// Returns InvalidArgument, which names the entry, if a key is empty or repeated, an alignment is
// not a power of two, or a layout is invalid or does not match the size of the data. Returns
// OutOfResources if the table of entries may need 2 GiB or more.
Result<std::vector<std::byte>> write_flat_tensor(std::span<const NamedBytes> entries);

}  // namespace vitrine
