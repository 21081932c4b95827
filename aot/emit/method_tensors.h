// The tensors of a method: what each node results in, and where that lies in memory.
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

// A tensor that one value of the program stands for. Nodes may share one: a result and the items
// taken from it, a buffer and what writes to it, a branch's input and what the branch is given.
struct MethodTensor {
  TensorValue value;                  // data_index is not set here
  const TensorData* data = nullptr;   // of constants and of buffers, which have an initial state
  std::vector<uint8_t> data_order;    // dim order in which the data are stored
  const InputSpec* weight = nullptr;  // whose tensor it is; null: no weight
  size_t storage = 0;
  uint64_t begin = 0;  // bytes before it in the storage, of a view of a part
};

// Memory that several tensors may share: static views lie in the memory of what they view.
struct MethodStorage {
  const Graph* graph = nullptr;  // whose plan it is in
  uint64_t bytes = 0;
  bool is_planned = true;
  std::optional<uint64_t> shared_at;  // in the memory that methods share; it is not planned here
};

class MethodTensors {
 public:
  // Finds all tensors of the program, branches included, and plans their memory. All must outlive
  // this. AotErrors name the node.
  MethodTensors(const ExportedProgram& program, const EmitOptions::MemoryPlanning& options,
                const SharedBuffers& shared);

  // One a result; kNoTensor where a result is a number. Empty for nodes without results.
  const std::vector<size_t>& of(const Node& node) const;
  const MethodTensor& tensor(size_t id) const { return tensors_[id]; }
  const MethodStorage& storage_of(size_t id) const { return storages_[tensors_[id].storage]; }
  // A view that needs no instruction: its memory is known.
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
  Results new_tensors(const Node& node);
  size_t new_tensor(const Node& node, const TensorSpec& spec);
  // By position among the graph's nodes.
  struct Lifetime {
    size_t storage = 0;
    size_t first = 0;
    size_t last = 0;
  };
  std::vector<Lifetime> lifetimes(const Graph& graph) const;
  void plan(const Graph& graph, bool greedy, uint64_t& end);
  // Plans again, with results of element-wise calls in the memory of operands; undone if that
  // takes more.
  void work_in_place(const Graph& graph);
  struct Place {
    size_t storage;
    uint64_t begin;
  };
  void share_with_operands(const Graph& graph);
  // Whether the result of an element-wise call may be written over the operand, if nothing reads
  // that later. `places` has that of each storage.
  bool may_take_memory_of(const Node& operand, const Node& call,
                          std::span<const Place> places) const;

  const ExportedProgram& program_;
  const EmitOptions::MemoryPlanning& options_;
  const SharedBuffers& shared_;
  std::unordered_map<const Node*, Results> results_;
  std::vector<MethodTensor> tensors_;
  std::vector<MethodStorage> storages_;
  uint64_t planned_bytes_ = 0;
  uint64_t naive_bytes_ = 0;
};

// The module that the node calls. AotError if there is none.
const LoweredBackendModule& lowered_module_of(const Node& call);
bool is_delegate_call(const Node& node);
bool is_memory_view(const Node& node);
// A call whose result is its first argument, changed.
bool is_write(const Node& node);

}  // namespace vitrine::aot
