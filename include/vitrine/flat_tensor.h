// Reads .ptd files, which hold named tensors and other named bytes outside a program (ExecuTorch
// 0.7 and later). Format: docs/formats/flat_tensor.md.
#pragma once

#include <memory>

#include "vitrine/named_data.h"

namespace vitrine {

// Verifies the structure of the entire file. Returns InvalidExternalData with the location and the
// reason for an invalid file. The map owns the source and is thread-safe.
Result<std::unique_ptr<NamedDataMap>> load_flat_tensor(std::unique_ptr<DataSource> source);

}  // namespace vitrine
