#include "kernels/util/strided_loop.h"

namespace vitrine {

StridedLoop::StridedLoop(std::span<const int32_t> sizes, std::span<const uint8_t> dims,
                         std::span<const int64_t* const> strides)
    : operands_(strides.size()) {
  size_t levels = 0;
  for (const uint8_t dim : dims) {
    const int64_t size = sizes[dim];
    if (size == 0) empty_ = true;
    if (size == 1) continue;
    Level level{size, {}};
    for (size_t k = 0; k < operands_; ++k) level.strides[k] = strides[k][dim];
    bool merges = levels > 0;
    for (size_t k = 0; merges && k < operands_; ++k) {
      merges = outer_[levels - 1].strides[k] == level.strides[k] * size;
    }
    if (merges) {
      outer_[levels - 1].size *= size;
      outer_[levels - 1].strides = level.strides;
    } else {
      outer_[levels++] = level;
    }
  }
  if (empty_) {
    run_length_ = 0;
  } else if (levels > 0) {
    outer_rank_ = levels - 1;
    run_length_ = outer_[levels - 1].size;
    run_strides_ = outer_[levels - 1].strides;
  }
}

std::span<const uint8_t> logical_order(size_t rank) {
  static constexpr std::array<uint8_t, kMaxRank> kOrder{0, 1, 2,  3,  4,  5,  6,  7,
                                                        8, 9, 10, 11, 12, 13, 14, 15};
  return {kOrder.data(), rank};
}

}  // namespace vitrine
