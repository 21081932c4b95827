#include "tools/common/memory_plan.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "runtime/program/program_access.h"
#include "tools/common/tensors.h"

namespace vitrine::tools {
namespace {

namespace fbs = schema::program;
using fbs::InstructionArguments;
using fbs::KernelTypes;

struct Life {
  int32_t first = 0;
  int32_t last = 0;
};

class PlanReader {
 public:
  explicit PlanReader(const fbs::ExecutionPlan& plan)
      : plan_(plan), lives_(plan.values()->size()) {}

  inspector::MemoryPlan read() {
    for (const int64_t bytes : *plan_.non_const_buffer_sizes()) {
      result_.buffers.push_back(static_cast<uint64_t>(bytes));
    }
    // The format reserves the first buffer.
    if (!result_.buffers.empty()) result_.buffers.erase(result_.buffers.begin());
    for (const fbs::Chain* chain : *plan_.chains()) read_chain(*chain);
    result_.num_instructions = next_;
    touch_all(plan_.inputs(), -1);
    touch_all(plan_.outputs(), next_);
    for (const Life& loop : loops_) stretch(loop);
    for (uint32_t i = 0; i < plan_.values()->size(); ++i) add_tensor(i);
    return std::move(result_);
  }

 private:
  void read_chain(const fbs::Chain& chain) {
    const int32_t begin = next_;
    if (chain.instructions() == nullptr) return;
    for (const fbs::Instruction* instruction : *chain.instructions()) {
      switch (instruction->instr_args_type()) {
        case InstructionArguments::KernelCall:
          touch_all(instruction->instr_args_as_KernelCall()->args(), next_);
          break;
        case InstructionArguments::DelegateCall:
          touch_all(instruction->instr_args_as_DelegateCall()->args(), next_);
          break;
        case InstructionArguments::MoveCall:
          touch(instruction->instr_args_as_MoveCall()->move_from(), next_);
          touch(instruction->instr_args_as_MoveCall()->move_to(), next_);
          break;
        case InstructionArguments::JumpFalseCall: {
          const auto& jump = *instruction->instr_args_as_JumpFalseCall();
          touch(jump.cond_value_index(), next_);
          const int32_t to = begin + jump.destination_instruction();
          if (to <= next_) loops_.push_back({to, next_});
          break;
        }
        default:  // freeing a value does not use it
          break;
      }
      ++next_;
    }
  }

  void touch_all(const flatbuffers::Vector<int32_t>* values, int32_t at) {
    if (values == nullptr) return;
    for (const int32_t value : *values) touch(value, at);
  }

  void touch(int32_t index, int32_t at) {
    if (index < 0) return;
    const fbs::EValue& value = *plan_.values()->Get(static_cast<uint32_t>(index));
    if (value.val_type() == KernelTypes::TensorList) {
      touch_all(value.val_as_TensorList()->items(), at);
    } else if (value.val_type() == KernelTypes::OptionalTensorList) {
      touch_all(value.val_as_OptionalTensorList()->items(), at);
    } else if (value.val_type() == KernelTypes::Tensor) {
      std::optional<Life>& life = lives_[static_cast<size_t>(index)];
      if (!life.has_value()) life = Life{at, at};
      life->first = std::min(life->first, at);
      life->last = std::max(life->last, at);
    }
  }

  // Extends each lifetime that overlaps `loop` to the whole loop.
  void stretch(const Life& loop) {
    for (std::optional<Life>& life : lives_) {
      if (!life.has_value() || life->first > loop.last || life->last < loop.first) continue;
      life->first = std::min(life->first, loop.first);
      life->last = std::max(life->last, loop.last);
    }
  }

  void add_tensor(uint32_t index) {
    const fbs::EValue& value = *plan_.values()->Get(index);
    if (value.val_type() != KernelTypes::Tensor || !lives_[index].has_value()) return;
    const fbs::Tensor& tensor = *value.val_as_Tensor();
    const fbs::AllocationDetails* allocation = tensor.allocation_info();
    if (allocation == nullptr || allocation->memory_id() == 0) return;
    const auto dtype = static_cast<ScalarType>(tensor.scalar_type());
    std::vector<int32_t> sizes;
    if (tensor.sizes() != nullptr) sizes.assign(tensor.sizes()->begin(), tensor.sizes()->end());
    uint64_t bytes = element_size(dtype);
    for (const int32_t size : sizes) bytes *= static_cast<uint64_t>(size);
    // A planned tensor with initial data is state.
    const bool is_state = tensor.data_buffer_idx() != 0;
    result_.tensors.push_back({.value = index,
                               .type = describe(dtype, sizes),
                               .buffer = allocation->memory_id(),
                               .offset = uint64_t{allocation->memory_offset_high()} << 32 |
                                         allocation->memory_offset_low(),
                               .bytes = bytes,
                               .first = is_state ? -1 : lives_[index]->first,
                               .last = is_state ? next_ : lives_[index]->last});
  }

  const fbs::ExecutionPlan& plan_;
  std::vector<std::optional<Life>> lives_;  // indexed by value
  std::vector<Life> loops_;                 // ranges of instructions
  int32_t next_ = 0;                        // index of the next instruction
  inspector::MemoryPlan result_;
};

}  // namespace

inspector::MemoryPlan memory_plan(const MethodMeta& method) {
  return PlanReader(ProgramAccess::plan(method)).read();
}

}  // namespace vitrine::tools
