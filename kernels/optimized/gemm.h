// A blocked matrix product in float, on all threads, over operands that supply their own panels.
#pragma once

#include <cstdint>

#include "vitrine/kernel_context.h"

namespace vitrine::optimized {

// Rows that are contiguous along the depth.
struct GemmRows {
  const float* data;
  int64_t stride;
};

// Called by several threads at once.
class GemmOperands {
 public:
  // left(row .. row + count, 0 .. depth), in place or put into `scratch`, of count * depth floats
  // if wants_scratch().
  virtual GemmRows left_rows(int64_t row, int64_t count, float* scratch) const = 0;
  virtual bool wants_scratch() const { return false; }

  // panel[d * width + c] = right(d, column + c) for c < count; zero for count <= c < width.
  virtual void pack_right(int64_t column, int64_t count, int64_t width, float* panel) const = 0;
  // If rows are contiguous: row d begins at data + d * stride.
  virtual GemmRows right_in_place() const { return {nullptr, 0}; }

  // If results of a row lie one after the other and are the sums themselves, and what each row's
  // begin with (null: zero). store() is then called for the columns at the edge only.
  struct InPlace {
    float* data;
    int64_t stride;
    const float* start;
  };
  virtual InPlace result_in_place() const { return {nullptr, 0, nullptr}; }

  // result(row + r, column + c) = sums[r * stride + c] for r < rows, c < count.
  virtual void store(int64_t row, int64_t rows, int64_t column, int64_t count, const float* sums,
                     int64_t stride) const = 0;

 protected:
  ~GemmOperands() = default;
};

// Every element of the result is stored once; with depth 0 they are zero. Fails the context without
// temporary memory: a panel of the right side for each thread, given back at the end.
void gemm(KernelContext& context, int64_t rows, int64_t columns, int64_t depth,
          const GemmOperands& operands);

// For products of less depth than columns in a vector, whose right side is better turned round:
// floats in a vector of this machine.
int64_t gemm_lanes();

}  // namespace vitrine::optimized
