// The plans and data of a program, before serialization.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "aot/emit/content_pool.h"
#include "aot/emit/execution_plan.h"
#include "aot/emit/shared_buffers.h"
#include "aot/graph/lowered_module.h"

namespace vitrine::aot {

// A tensor to be stored in a .ptd file.
struct ExternalTensor {
  std::string method;  // the first method that uses it
  ScalarType dtype = ScalarType::kFloat;
  std::vector<int32_t> sizes;
  std::vector<uint8_t> dim_order;
  SharedBytes content;
};

// TensorValue::data_index is an index into `constants` or `initial_states`, plus 1.
struct ProgramParts {
  SharedBuffers shared_buffers;
  std::vector<ExecutionPlan> plans;  // sorted by name
  ContentPool constants;
  ContentPool initial_states;
  ContentPool payloads;
  std::map<std::string, ExternalTensor> external_tensors;  // keyed by qualified name
  std::map<std::string, NamedData> named_data;             // by key
};

}  // namespace vitrine::aot
