// Places the intermediate values of a runtime, and the temporary memory of its operators, in its
// workspace. Values that are in use at different times share memory. An elementwise operator
// overwrites an input that nothing reads afterward.
#pragma once

#include <xnnpack.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/core/checked_vector.h"

namespace vitrine::xnnpack {

// A range of the workspace that the operators from `first` to `last` use.
struct MemoryBlock {
  size_t bytes = 0;
  size_t first = 0;
  size_t last = 0;
  size_t offset = 0;  // set by place_blocks()
};

// Sets the offsets. Returns the bytes that all blocks need, or SIZE_MAX on overflow.
Result<size_t> place_blocks(std::span<MemoryBlock> blocks);

class WorkspacePlan {
 public:
  // Makes a plan for the sizes of the runtime's last reshape. make() and apply() need XNNPACK's
  // private headers (runtime_access.h).
  Error make(xnn_runtime_t runtime);
  // Size of the workspace, including the bytes that kernels may read past its values. May be 0.
  size_t bytes() const { return bytes_; }
  // Places the runtime's values in the memory at `workspace`, which has at least bytes() bytes. The
  // memory need not be initialized.
  void apply(xnn_runtime_t runtime, std::byte* workspace) const;

 private:
  static constexpr uint32_t kNoBlock = UINT32_MAX;
  Error add_block(size_t bytes, size_t first, size_t last, uint32_t* index);

  size_t bytes_ = 0;
  CheckedVector<MemoryBlock> blocks_;
  CheckedVector<uint32_t> block_of_value_;
  CheckedVector<uint32_t> block_of_operator_;
};

}  // namespace vitrine::xnnpack
