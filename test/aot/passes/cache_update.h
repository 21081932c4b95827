// A small cache and calls that write to it, for tests.
#pragma once

#include "test/aot/optimize/lowered_call.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {

// Writes the value to the rows of the cache, beginning with row `at`.
inline Node* update_cache(ModelBuilder& build, Node* value, Node* cache, int at) {
  return build.call_as("llama.update_cache.default", {value, cache, at}, {},
                       contiguous_spec(ScalarType::kFloat, {1}));
}

inline const TensorData kCache = floats({1, 3, 1, 2}, {1, 2, 3, 4, 5, 6});
inline const TensorData kRow = floats({1, 1, 1, 2}, {10, 20});

// An edge program that writes a row to a buffer and reads the buffer.
inline ExportedProgram update_program() {
  ModelBuilder build("Net");
  Node* row = build.input("row", ScalarType::kFloat, {1, 1, 1, 2});
  Node* cache = build.buffer("cache", zeros({1, 3, 1, 2}));
  update_cache(build, row, cache, 1);
  return edge_program(build, {build.call("aten.neg.default", {cache})});
}

}  // namespace vitrine::aot
