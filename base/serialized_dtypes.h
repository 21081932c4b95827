// The numbers that serialised graphs give dtypes. They are not ScalarType's.
#pragma once

#include <cstdint>
#include <optional>

#include "vitrine/scalar_type.h"

namespace vitrine {

// The two agree up to 13 (bfloat16).
enum class DtypeNumbering : uint8_t {
  kTorchExport,  // torch.export's schema: a `.pt2`
  kExir,         // ExecuTorch's copy of it: the graph in an ETRecord
};

// Nothing if the number means no dtype.
std::optional<ScalarType> dtype_of_number(DtypeNumbering numbering, int64_t number);
// 0, "unknown", if the dtype has no number.
int64_t number_of_dtype(DtypeNumbering numbering, ScalarType dtype);

}  // namespace vitrine
