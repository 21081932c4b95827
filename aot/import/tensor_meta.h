// Reads the structs that describe tensors in torch.export's schema.
#pragma once

#include "aot/graph/tensor_spec.h"
#include "base/json.h"

namespace vitrine::aot {

// The next four functions read values that torch.export stores as numbers or names. The numbers
// that torch.export uses for dtypes differ from the values of ScalarType.
ScalarType read_dtype(const JsonValue& value);
MemoryFormat read_memory_format(const JsonValue& value);
Layout read_layout(const JsonValue& value);
Device read_device(const JsonValue& value);
// Reads {"as_int": n}, {"as_float": x}, {"as_bool": b} or {"as_expr": {"expr_str": ...}}.
SymInt read_sym_int(const JsonValue& value);
TensorSpec read_tensor_meta(const JsonValue& value);

}  // namespace vitrine::aot
