// Converts between dtypes and their numbers in serialized graphs. ScalarType has other numbers.
#pragma once

#include <cstdint>
#include <optional>

#include "vitrine/scalar_type.h"

namespace vitrine {

// The dtype numbering of a graph format. Both formats use the same numbers up to 13 (bfloat16).
enum class DtypeNumbering : uint8_t {
  kTorchExport,  // the graph in a `.pt2`
  kExir,         // the graph in an ETRecord
};

// Returns the dtype with this number, or nullopt.
std::optional<ScalarType> dtype_of_number(DtypeNumbering numbering, int64_t number);
// Returns the number of a dtype, or 0 ("unknown") if the dtype does not have a number.
int64_t number_of_dtype(DtypeNumbering numbering, ScalarType dtype);

}  // namespace vitrine
