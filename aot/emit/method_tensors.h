// The tensors of a method and their offsets in planned memory.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "aot/emit/emit.h"
#include "aot/emit/execution_plan.h"
#include "aot/emit/shared_buffers.h"

namespace vitrine::aot {

inline constexpr size_t kNoTensor = std::numeric_limits<size_t>::max();

// A tensor value of the program. Several nodes may have the same tensor, for example a buffer and
// the calls that write to the buffer.
struct MethodTensor {
  TensorValue value;                  // without data_index, which MethodValues sets
  const TensorData* data = nullptr;   // a constant, or the initial state of a buffer
  std::vector<uint8_t> data_order;    // dim order of the data in the program
  const InputSpec* weight = nullptr;  // null: not a weight
  size_t storage = 0;                 // index of its MethodStorage
  uint64_t begin = 0;                 // offset in the storage, in bytes; not 0 for views of a part
};

// A range of memory that holds a tensor. A static view has the storage of the tensor that it views.
struct MethodStorage {
  const Graph* graph = nullptr;  // the graph whose memory plan contains it
  uint64_t bytes = 0;
  bool is_planned = true;
  std::optional<uint64_t> shared_at;  // offset in the memory that methods share, not in the plan
};

class MethodTensors {
 public:
  // Finds all tensors of the program, including subgraphs, and plans their memory. All arguments
  // must outlive this object. Throws AotErrors that name the node.
  MethodTensors(const ExportedProgram& program, const EmitOptions::MemoryPlanning& options,
                const SharedBuffers& shared);

  // Returns the tensor id of each result of the node. Numbers have kNoTensor.
  const std::vector<size_t>& of(const Node& node) const;
  // Returns the planned scratch memory of a delegate call.
  std::vector<PlanScratch> scratch_of(const Node& node) const;
  const MethodTensor& tensor(size_t id) const { return tensors_[id]; }
  const MethodStorage& storage_of(size_t id) const { return storages_[tensors_[id].storage]; }
  // True for a view whose shape and memory are known ahead of time.
  bool is_free_view(const Node& node) const;

  bool has_shared_buffers() const;
  uint64_t planned_bytes() const { return planned_bytes_; }
  uint64_t naive_bytes() const { return naive_bytes_; }

 private:
  using Results = std::vector<size_t>;
  void add_graph(const Graph& graph, bool is_method);
  void add_input(const Node& node);
  void add_call(const Node& node);
  void add_condition(const Node& node);
  void add_loop(const Node& node);
  void add_while_loop(const Node& node);
  void add_scratch(const Node& delegate_call);
  Results new_tensors(const Node& node);
  size_t new_tensor(const Node& node, const TensorSpec& spec);
  size_t new_tensor(const Node& node, TensorValue value, uint64_t bytes);
  // The positions of the first and the last node of the graph that use a storage.
  struct Lifetime {
    size_t storage = 0;
    size_t first = 0;
    size_t last = 0;
  };
  std::vector<Lifetime> lifetimes(const Graph& graph) const;
  void plan(const Graph& graph, bool greedy, uint64_t& end);
  // Makes a second plan, in which element-wise calls overwrite operands. Restores the first plan if
  // the second plan needs more memory.
  void plan_in_place(const Graph& graph);
  struct StorageOffset {
    size_t storage;
    uint64_t begin;  // in bytes
  };
  void share_with_operands(const Graph& graph);
  // True if an element-wise call may write its result over the operand, provided that no later node
  // reads the operand. `offsets[i]` is the new location of storage i.
  bool may_overwrite(const Node& operand, const Node& call,
                     std::span<const StorageOffset> offsets) const;

  const ExportedProgram& program_;
  const EmitOptions::MemoryPlanning& options_;
  const SharedBuffers& shared_;
  std::unordered_map<const Node*, Results> results_;
  std::unordered_map<const Node*, Results> scratch_;
  std::vector<MethodTensor> tensors_;
  std::vector<MethodStorage> storages_;
  uint64_t planned_bytes_ = 0;
  uint64_t naive_bytes_ = 0;
};

// Returns the module that a delegate call runs. Throws AotError if the graph lacks the module.
const LoweredBackendModule& lowered_module_of(const Node& call);
bool is_delegate_call(const Node& node);
bool is_memory_view(const Node& node);
// True for calls that change their first argument in place and return it.
bool is_write(const Node& node);

}  // namespace vitrine::aot
