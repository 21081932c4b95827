// Weights of a linear layer in torchao's universal layout (https://github.com/pytorch/ao,
// kernels/cpu): symmetric int4 or int8 with one float scale per group of columns.
//
// A header of 16 int32 numbers precedes the blocks. The parts of a block, in memory order:
//
//   block   8 rows of weights: all groups of columns, then 8 float biases if the layer has biases
//   group   one packet per 16 columns, then 8 float scales (one per row), then 8 int32 numbers: for
//           each row, the sum of its values in the group
//   packet  columns 0 to 7 of each row, then columns 8 to 15 of each row
//
// An int4 value is stored as value + 8. Each run of 32 int4 values takes 16 bytes. Byte i of a run
// holds value i in the low 4 bits and value i + 16 in the high 4 bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vitrine/kernel_context.h"

namespace vitrine {

class PackedWeights {
 public:
  static constexpr int64_t kRows = 8;  // rows per block
  static constexpr int64_t kPacketColumns = 16;

  struct Shape {
    int64_t rows;
    int64_t columns;
    int64_t group_size;  // columns that share a scale
    int64_t bits;        // 4 or 8
  };

  // Checks `shape` and the header, and that the `size` bytes at `data` match the shape. `name` is
  // the argument's name in error messages. The data needs no alignment and must outlive the result.
  [[nodiscard]] bool read(KernelContext& context, const void* data, size_t size, const Shape& shape,
                          const char* name);

  const Shape& shape() const { return shape_; }
  int64_t blocks() const { return (shape_.rows + kRows - 1) / kRows; }
  int64_t groups() const { return shape_.columns / shape_.group_size; }

  // For each of the 8 rows, adds the dot product of a group of inputs and the row's values to
  // sums[row]. `values` has the shape [group_size, 8].
  template <class Input, class Sum>
  void multiply(const Input* inputs, const int8_t* values, Sum* sums) const {
    for (int64_t column = 0; column < shape_.group_size; ++column, values += kRows) {
      for (int64_t row = 0; row < kRows; ++row) {
        sums[row] += static_cast<Sum>(inputs[column]) * static_cast<Sum>(values[row]);
      }
    }
  }

  // Stores a group's values in `values`, in the shape [group_size, 8], and the scales of its 8 rows
  // in `scales`. Rows beyond the last row of the weights are zeros.
  void unpack(int64_t block, int64_t group, int8_t* values, float* scales) const;
  // Writes the 8 biases of a block, or zeros if the layer has no biases.
  void unpack_biases(int64_t block, float* biases) const;

 private:
  const std::byte* block_at(int64_t block) const { return blocks_ + block * block_bytes_; }

  Shape shape_{};
  const std::byte* blocks_ = nullptr;
  int64_t group_bytes_ = 0;
  int64_t block_bytes_ = 0;
  bool has_bias_ = false;
};

}  // namespace vitrine
