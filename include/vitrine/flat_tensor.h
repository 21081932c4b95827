// A .ptd file: named tensors and blobs outside a program (ExecuTorch 0.7 and later).
// Format: docs/formats/flat_tensor.md.
#pragma once

#include <memory>

#include "vitrine/named_data.h"

namespace vitrine {

// Verifies the whole file's structure. InvalidExternalData names the error and its place.
Result<std::unique_ptr<NamedDataMap>> load_flat_tensor(std::unique_ptr<DataSource> source);

}  // namespace vitrine
