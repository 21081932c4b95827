// Parts of torch.export's schema that graphs and weights share.
#pragma once

#include "aot/graph/tensor_spec.h"
#include "base/json.h"

namespace vitrine::aot {

// torch.export's numbers, which are not ScalarType's.
ScalarType read_dtype(const JsonValue& value);
MemoryFormat read_memory_format(const JsonValue& value);
Layout read_layout(const JsonValue& value);
Device read_device(const JsonValue& value);
// {"as_int": n} or {"as_expr": {"expr_str": ...}}; floats and bools likewise.
SymInt read_sym_int(const JsonValue& value);
TensorSpec read_tensor_meta(const JsonValue& value);

}  // namespace vitrine::aot
