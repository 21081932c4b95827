// A blocked matrix product in float on all threads. Virtual functions read the operands.
#pragma once

#include <cstdint>
#include <optional>

#include "vitrine/kernel_context.h"

namespace vitrine::optimized {

// Rows of floats, `stride` floats apart.
struct GemmRows {
  const float* data;
  int64_t stride;
  bool has_slack = false;  // true if a full vector may be read at the end of each row
};

// The operands of the product left x right. Several threads may call these functions at the same
// time.
class GemmOperands {
 public:
  // Returns the rows [row, row + count) of the left side in place. If wants_scratch() is true,
  // copies the rows to `scratch` (count * depth floats) instead.
  virtual GemmRows left_rows(int64_t row, int64_t count, float* scratch) const = 0;
  virtual bool wants_scratch() const { return false; }

  // Sets panel[d * width + c] to right(d, column + c) for c < count, and to 0 for count <= c <
  // width.
  virtual void pack_right(int64_t column, int64_t count, int64_t width, float* panel) const = 0;
  // The right side without a copy: row d is at data + d * stride. `data` is null if the rows are
  // not contiguous.
  virtual GemmRows right_in_place() const { return {nullptr, 0}; }

  // The right side as packed by pack_columns(). Null if the right side is not packed in advance.
  virtual const float* packed_right() const { return nullptr; }

  // The memory of the result. If `data` is not null, gemm() writes the sums to this memory instead
  // of calling store(). `data` is null if the rows are not contiguous or if store() must change the
  // sums. Sums start with start[row] or, if `start` is null, with bias[column]. If both are null,
  // sums start with 0.
  struct InPlace {
    float* data;
    int64_t stride;
    const float* start;
    const float* bias = nullptr;
  };
  virtual InPlace result_in_place() const { return {nullptr, 0, nullptr}; }

  // Sets result(row + r, column + c) = sums[r * stride + c] for r < rows and c < count.
  virtual void store(int64_t row, int64_t rows, int64_t column, int64_t count, const float* sums,
                     int64_t stride) const = 0;

 protected:
  ~GemmOperands() = default;
};

// Stores every element of the result once. With depth 0, all dot products are zero. Each thread
// needs temporary memory for a panel of the right side. Fails the context if temporary memory runs
// out.
void gemm(KernelContext& context, int64_t rows, int64_t columns, int64_t depth,
          const GemmOperands& operands);

// Number of floats in a packed right side, or nullopt on overflow.
std::optional<int64_t> packed_size(int64_t columns, int64_t depth);
// Packs the right side into vectors of adjacent columns: [vectors, depth, lanes].
void pack_columns(KernelContext& context, int64_t columns, int64_t depth,
                  const GemmOperands& operands, float* packed);

// Number of floats in a vector. For products with fewer rows, the transposed product may be faster.
int64_t gemm_lanes();

}  // namespace vitrine::optimized
