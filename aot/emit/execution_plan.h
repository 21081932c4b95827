// A method as a program holds it, before it is bytes (docs/formats/program.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "aot/graph/node_error.h"
#include "vitrine/scalar_type.h"

namespace vitrine::aot {

struct TensorValue {
  ScalarType dtype = ScalarType::kFloat;
  std::vector<int32_t> sizes;  // upper bounds where the shape is dynamic
  std::vector<uint8_t> dim_order;
  bool requires_grad = false;
  bool is_dynamic = false;
  uint32_t data_index = 0;         // of the program's constants, or of initial states; 0: none
  std::optional<uint64_t> offset;  // in planned memory, in bytes
  bool is_shared = false;          // that is the memory that methods share
  std::string external_name;       // in a .ptd file; empty: not there
};

// Positions among the method's values.
struct IndexList {
  enum class Kind : uint8_t { kInts, kTensors, kOptionalTensors };
  Kind kind = Kind::kInts;
  std::vector<int32_t> items;  // -1: None, of optional tensors
};

using PlanValue = std::variant<std::monostate, int64_t, bool, double, std::string, TensorValue,
                               IndexList, std::vector<double>, std::vector<bool>>;

struct KernelCall {
  int32_t op = 0;  // of ExecutionPlan::operators
  std::vector<int32_t> args;
};
struct DelegateCall {
  int32_t delegate = 0;  // of ExecutionPlan::delegates
  std::vector<int32_t> args;
};
struct MoveCall {
  int32_t from = 0;
  int32_t to = 0;
};
struct JumpFalseCall {
  int32_t condition = 0;
  int32_t destination = 0;
};
using PlanInstruction = std::variant<KernelCall, DelegateCall, MoveCall, JumpFalseCall>;

struct PlanDelegate {
  std::string backend_id;
  size_t payload = 0;                                              // of the program's payloads
  std::vector<std::pair<std::string, std::string>> compile_specs;  // key, bytes
  friend bool operator==(const PlanDelegate&, const PlanDelegate&) = default;
};

struct ExecutionPlan {
  std::string name;
  std::string input_tree;  // tree specs, as JSON text
  std::string output_tree;
  std::vector<PlanValue> values;
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;
  std::vector<std::pair<std::string, std::string>> operators;  // name, overload
  std::vector<PlanDelegate> delegates;
  std::vector<PlanInstruction> instructions;
  std::vector<std::vector<StackFrame>> stacktrace;  // one an instruction, or empty
  uint64_t planned_bytes = 0;
  uint64_t shared_bytes = 0;  // of the memory that methods share; 0: they share none
};

}  // namespace vitrine::aot
