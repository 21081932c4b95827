#include "backends/xnnpack/runtime/execution/workspace_plan.h"

#include <cpuinfo.h>

#include <algorithm>

#include "backends/xnnpack/runtime/execution/runtime_access.h"
#include "runtime/core/checked_math.h"
#include "runtime/core/sort.h"

namespace vitrine::xnnpack {
namespace {

// XNNPACK's sparse kernels read up to twice XNN_EXTRA_BYTES past their input.
constexpr size_t kBytesPastEnd = 2 * size_t{XNN_EXTRA_BYTES};

bool live_together(const MemoryBlock& a, const MemoryBlock& b) {
  return a.first <= b.last && b.first <= a.last;
}

// Returns true if a softmax would be slow when its result overwrites its input. If the row length
// is not a multiple of the vector length, the AVX-512 kernel ends each row with a masked store. In
// place, the first load of the next row waits for that store.
bool stalls_in_place(const RuntimeValue& from) {
  constexpr size_t kVectorFloats = 16;
  constexpr size_t kLongRow = 256;  // for long rows, the stall is short and the memory is large
  if (!cpuinfo_has_x86_avx512f()) return false;
  const size_t row = from.dims.back();
  return from.datatype == xnn_datatype_fp32 && row % kVectorFloats != 0 && row < kLongRow;
}

// True if the operator reads each input element before it overwrites that element.
bool may_overwrite(xnn_runtime_t runtime, const RuntimeOperator& op, uint32_t input) {
  switch (op.kind) {
    case OperatorKind::kUnary:
    case OperatorKind::kBinary:
    case OperatorKind::kCopy:
    case OperatorKind::kSoftmax:
      break;
    default:
      return false;
  }
  const RuntimeValue from = value_at(runtime, input);
  const RuntimeValue to = value_at(runtime, op.outputs[0]);
  if (op.kind == OperatorKind::kSoftmax && stalls_in_place(from)) return false;
  return from.datatype == to.datatype && to.datatype != xnn_datatype_qdint8 &&
         count_elements(from.dims) == count_elements(to.dims);
}

}  // namespace

// Places the largest blocks first. Each block goes into the smallest sufficient gap between placed
// blocks that are in use at the same time.
Result<size_t> place_blocks(std::span<MemoryBlock> blocks) {
  CheckedVector<uint32_t> order;
  CheckedVector<uint32_t> by_offset;  // only the first `placed` elements are set
  VITRINE_RETURN_IF_ERROR(order.resize(blocks.size()));
  VITRINE_RETURN_IF_ERROR(by_offset.resize(blocks.size()));
  for (size_t i = 0; i < blocks.size(); ++i) order[i] = static_cast<uint32_t>(i);
  sort(std::span(order.data(), order.size()), [blocks](uint32_t a, uint32_t b) {
    if (blocks[a].bytes != blocks[b].bytes) return blocks[a].bytes > blocks[b].bytes;
    return a < b;
  });
  size_t placed = 0;
  size_t end = 0;
  for (const uint32_t i : order) {
    MemoryBlock& block = blocks[i];
    size_t free_from = 0;  // end of the visited blocks
    size_t smallest_gap = SIZE_MAX;
    for (const uint32_t k : std::span(by_offset.data(), placed)) {
      const MemoryBlock& other = blocks[k];
      if (!live_together(block, other)) continue;
      if (other.offset > free_from) {
        const size_t gap = other.offset - free_from;
        if (gap >= block.bytes && gap < smallest_gap) {
          smallest_gap = gap;
          block.offset = free_from;
        }
      }
      free_from = std::max(free_from, other.offset + other.bytes);
    }
    if (smallest_gap == SIZE_MAX) block.offset = free_from;
    size_t block_end = 0;
    if (add_overflows(block.offset, block.bytes, &block_end)) return SIZE_MAX;
    end = std::max(end, block_end);
    size_t at = placed++;
    for (; at > 0 && blocks[by_offset[at - 1]].offset > block.offset; --at) {
      by_offset[at] = by_offset[at - 1];
    }
    by_offset[at] = i;
  }
  return end;
}

Error WorkspacePlan::add_block(size_t bytes, size_t first, size_t last, uint32_t* index) {
  *index = static_cast<uint32_t>(blocks_.size());
  return blocks_.push_back({.bytes = bytes, .first = first, .last = last});
}

Error WorkspacePlan::make(xnn_runtime_t runtime) {
  const size_t operators = operator_count(runtime);
  const size_t values = value_count(runtime);
  CheckedVector<size_t> last_use;
  VITRINE_RETURN_IF_ERROR(last_use.resize(values));
  VITRINE_RETURN_IF_ERROR(block_of_value_.assign(values, kNoBlock));
  VITRINE_RETURN_IF_ERROR(block_of_operator_.assign(operators, kNoBlock));
  for (size_t i = 0; i < operators; ++i) {
    const RuntimeOperator op = operator_at(runtime, i);
    if (!op.runs()) continue;
    for (const std::span<const uint32_t> ids : {op.inputs, op.outputs}) {
      for (const uint32_t id : ids) {
        if (id < values) last_use[id] = i;
      }
    }
  }
  for (size_t i = 0; i < operators; ++i) {
    const RuntimeOperator op = operator_at(runtime, i);
    if (!op.runs()) continue;
    for (const uint32_t id : op.outputs) {
      if (id >= values) continue;
      const size_t bytes = workspace_bytes_of_value(runtime, id);
      if (bytes == 0) continue;
      const auto overwritten = std::ranges::find_if(op.inputs, [&](uint32_t input) {
        return input < values && block_of_value_[input] != kNoBlock && last_use[input] == i &&
               may_overwrite(runtime, op, input);
      });
      if (overwritten != op.inputs.end()) {
        block_of_value_[id] = block_of_value_[*overwritten];
        blocks_[block_of_value_[id]].last = last_use[id];
      } else {
        VITRINE_RETURN_IF_ERROR(add_block(bytes, i, last_use[id], &block_of_value_[id]));
      }
    }
    const size_t bytes = workspace_bytes_of_operator(runtime, i);
    if (bytes != 0) VITRINE_RETURN_IF_ERROR(add_block(bytes, i, i, &block_of_operator_[i]));
  }
  if (blocks_.empty()) return Error();
  VITRINE_ASSIGN_OR_RETURN(bytes_, place_blocks({blocks_.data(), blocks_.size()}));
  if (add_overflows(bytes_, kBytesPastEnd, &bytes_)) bytes_ = SIZE_MAX;
  return Error();
}

void WorkspacePlan::apply(xnn_runtime_t runtime, std::byte* workspace) const {
  for (size_t i = 0; i < block_of_value_.size(); ++i) {
    const uint32_t block = block_of_value_[i];
    if (block == kNoBlock) continue;
    set_value_memory(runtime, static_cast<uint32_t>(i), workspace + blocks_[block].offset);
  }
  for (size_t i = 0; i < block_of_operator_.size(); ++i) {
    const uint32_t block = block_of_operator_[i];
    if (block != kNoBlock) set_operator_memory(runtime, i, workspace + blocks_[block].offset);
  }
}

}  // namespace vitrine::xnnpack
