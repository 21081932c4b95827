// Structs that describe a method as the program format stores it, before serialization
// (docs/formats/program.md).
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
  std::vector<int32_t> sizes;  // upper bounds of dynamic sizes
  std::vector<uint8_t> dim_order;
  bool requires_grad = false;
  bool is_dynamic = false;
  // 0 means that the tensor does not have data. Any other value is 1 plus an index into the
  // program's constants or, for a mutable buffer, into the program's initial states.
  uint32_t data_index = 0;
  std::optional<uint64_t> offset;  // in planned memory, in bytes
  bool is_shared = false;          // `offset` is in the memory that methods share
  std::string external_name;       // key in a .ptd file; empty: the data are not in one
};

// A list value, whose items are indices of the method's values.
struct IndexList {
  enum class Kind : uint8_t { kInts, kTensors, kOptionalTensors };
  Kind kind = Kind::kInts;
  std::vector<int32_t> items;  // -1: None (optional tensors only)
};

using PlanValue = std::variant<std::monostate, int64_t, bool, double, std::string, TensorValue,
                               IndexList, std::vector<double>, std::vector<bool>>;

struct KernelCall {
  int32_t op = 0;  // index in ExecutionPlan::operators
  std::vector<int32_t> args;
};
struct PlanScratch {
  uint64_t offset = 0;  // in planned memory, in bytes
  uint64_t bytes = 0;
};
struct DelegateCall {
  int32_t delegate = 0;  // index in ExecutionPlan::delegates
  std::vector<int32_t> args;
  std::vector<PlanScratch> scratch;
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
  size_t payload = 0;  // index among the program's payloads
  std::vector<std::pair<std::string, std::string>> compile_specs;  // key, bytes
  friend bool operator==(const PlanDelegate&, const PlanDelegate&) = default;
};

struct ExecutionPlan {
  std::string name;
  std::string input_tree;  // tree specs (torch.utils._pytree), as JSON text
  std::string output_tree;
  std::vector<PlanValue> values;
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;
  std::vector<std::pair<std::string, std::string>> operators;  // name, overload
  std::vector<PlanDelegate> delegates;
  std::vector<PlanInstruction> instructions;
  std::vector<std::vector<StackFrame>> stacktrace;  // per instruction; empty: not emitted
  uint64_t planned_bytes = 0;
  uint64_t shared_bytes = 0;  // size of the memory that methods share; 0: none
};

}  // namespace vitrine::aot
