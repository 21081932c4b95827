// What the methods of one program share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "aot/emit/content_pool.h"
#include "aot/emit/execution_plan.h"
#include "aot/emit/shared_buffers.h"
#include "aot/graph/lowered_module.h"

namespace vitrine::aot {

// A tensor of a .ptd file.
struct ExternalTensor {
  std::string method;  // the first that has it
  ScalarType dtype = ScalarType::kFloat;
  std::vector<int32_t> sizes;
  std::vector<uint8_t> dim_order;
  SharedBytes content;
};

// Positions among constants and initial states begin at 1: 0 is for tensors without either.
struct ProgramParts {
  SharedBuffers shared_buffers;
  std::vector<ExecutionPlan> plans;  // by name
  ContentPool constants;
  ContentPool initial_states;
  ContentPool payloads;
  std::map<std::string, ExternalTensor> external_tensors;  // by qualified name
  std::map<std::string, NamedData> named_data;             // by key
};

}  // namespace vitrine::aot
