// Computes a blocked matrix product in float on all threads. The operands are read through virtual
// functions.
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

// The operands of a product, left x right. Several threads may call these functions at the same
// time.
class GemmOperands {
 public:
  // Returns the rows [row, row + count) of the left side. If wants_scratch() is true, copies them
  // to `scratch`, which holds count * depth floats. Otherwise, returns them in place.
  virtual GemmRows left_rows(int64_t row, int64_t count, float* scratch) const = 0;
  virtual bool wants_scratch() const { return false; }

  // Sets panel[d * width + c] to right(d, column + c) for c < count, and to 0 for count <= c <
  // width.
  virtual void pack_right(int64_t column, int64_t count, int64_t width, float* panel) const = 0;
  // The right side without a copy: row d is at data + d * stride. `data` is null if the rows are
  // not contiguous.
  virtual GemmRows right_in_place() const { return {nullptr, 0}; }

  // The right side in the packed form that pack_columns() writes; null if the right side is not
  // packed in advance.
  virtual const float* packed_right() const { return nullptr; }

  // The memory of the result. If `data` is not null, gemm() writes the sums to this memory and does
  // not call store(). `data` is null if the rows are not contiguous or if store() must change the
  // sums. If `start` is not null, the sums of row r start with start[r]. Otherwise, if `bias` is
  // not null, the sums of column c start with bias[c].
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

// Computes and stores every element of the result once. With depth 0, all dot products are zero.
// Uses temporary memory for a panel of the right side in each thread. Fails the context if there is
// not enough temporary memory.
void gemm(KernelContext& context, int64_t rows, int64_t columns, int64_t depth,
          const GemmOperands& operands);

// The number of floats in a packed right side; nullopt if this number overflows.
std::optional<int64_t> packed_size(int64_t columns, int64_t depth);
// Packs the right side into vectors of adjacent columns: [vectors, depth, lanes].
void pack_columns(KernelContext& context, int64_t columns, int64_t depth,
                  const GemmOperands& operands, float* packed);

// Number of floats in a vector of this machine. If a product has fewer rows than this, it may be
// faster to compute the transposed product.
int64_t gemm_lanes();

}  // namespace vitrine::optimized
