// Numbers of dtypes in serialized graphs. They differ from the values of ScalarType.
#pragma once

#include <cstdint>
#include <optional>

#include "vitrine/scalar_type.h"

namespace vitrine {

// The two numberings agree up to 13 (bfloat16).
enum class DtypeNumbering : uint8_t {
  kTorchExport,  // torch.export's schema: a `.pt2`
  kExir,         // ExecuTorch's copy of it: the graph in an ETRecord
};

// Returns nullopt if no dtype has the number.
std::optional<ScalarType> dtype_of_number(DtypeNumbering numbering, int64_t number);
// Returns 0 ("unknown") if the dtype has no number.
int64_t number_of_dtype(DtypeNumbering numbering, ScalarType dtype);

}  // namespace vitrine
