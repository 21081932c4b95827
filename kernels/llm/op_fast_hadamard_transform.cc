#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/util/checks.h"
#include "kernels/util/convert.h"
#include "kernels/util/independent.h"
#include "kernels/util/parallel.h"
#include "vitrine/kernel.h"

namespace vitrine::llm {

namespace {

constexpr int64_t kHadamardBlocks = 28;

// The 28 x 28 Hadamard matrix: one word per row, one bit per entry. The highest of the 28 bits is
// the first column.
constexpr uint32_t kPositive[kHadamardBlocks] = {
    0x818694c, 0x41c14a6, 0x20e2a13, 0x1071549, 0x0838ae4, 0x041e532, 0x030d299,
    0x3d019d2, 0x1e82ca9, 0x8e43654, 0xc621b2a, 0xe210d95, 0xf00a6ca, 0x7807325,
    0x5b3201e, 0xac9900f, 0x564c847, 0xab24463, 0xd590271, 0x6ac8178, 0xb4640bc,
    0x66b70c0, 0xb35b820, 0xd8adc10, 0x6d54e08, 0x37a8704, 0x9ad4382, 0xcd6a181};

bool is_hadamard_positive(int64_t row, int64_t column) {
  return ((kPositive[row] >> (kHadamardBlocks - 1 - column)) & 1u) != 0;
}

// A row consists of `blocks` vectors of `length` = 2^m elements. Each vector is multiplied by
// Sylvester's Hadamard matrix and divided by the square root of `length`. With 28 blocks, the row
// is then a matrix M of shape [28, length], which is replaced with H * M. H is the 28 x 28 Hadamard
// matrix, not scaled.
struct HadamardShape {
  int64_t rows;
  int64_t blocks;  // 1 or 28
  int64_t length;
};

// Number of floats in a vector register of every machine.
constexpr int64_t kLanes = 4;

// Replaces the two halves of each block of 2 * half elements with their sum and their difference,
// multiplied by `factor`.
void add_halves(float* row, int64_t count, int64_t half, float factor) {
  for (float* block = row; block != row + count; block += 2 * half) {
    VITRINE_INDEPENDENT_ITERATIONS
    for (int64_t i = 0; i < half; ++i) {
      const float a = block[i], b = block[i + half];
      block[i] = (a + b) * factor;
      block[i + half] = (a - b) * factor;
    }
  }
}

// Like add_halves() with half = quarter and then half = 2 * quarter, but in one pass. `quarter`
// must be a multiple of kWidth.
template <int64_t kWidth>
void add_quarters(float* row, int64_t count, int64_t quarter, float factor) {
  for (float* block = row; block != row + count; block += 4 * quarter) {
    for (float* x = block; x != block + quarter; x += kWidth) {
      VITRINE_INDEPENDENT_ITERATIONS
      for (int64_t i = 0; i < kWidth; ++i) {
        const float first = x[i], second = x[i + quarter];
        const float third = x[i + 2 * quarter], fourth = x[i + 3 * quarter];
        const float a = first + second, b = first - second, c = third + fourth, d = third - fourth;
        x[i] = (a + c) * factor;
        x[i + quarter] = (b + d) * factor;
        x[i + 2 * quarter] = (a - c) * factor;
        x[i + 3 * quarter] = (b - d) * factor;
      }
    }
  }
}

constexpr int64_t kColumns = 16;

// Multiplies `width` columns of 28 elements by the Hadamard matrix, in place. The stride between
// rows is `stride` elements.
void multiply_blocks(float* columns, int64_t stride, int64_t width) {
  alignas(64) float in[kHadamardBlocks][kColumns] = {};
  for (int64_t k = 0; k < kHadamardBlocks; ++k) std::copy_n(columns + k * stride, width, in[k]);
  for (int64_t r = 0; r < kHadamardBlocks; ++r) {
    alignas(64) float sums[kColumns] = {};
    for (int64_t k = 0; k < kHadamardBlocks; ++k) {
      const float sign = is_hadamard_positive(r, k) ? 1.0F : -1.0F;
      for (int64_t c = 0; c < kColumns; ++c) sums[c] += sign * in[k][c];
    }
    std::copy_n(sums, width, columns + r * stride);
  }
}

void transform_row(const HadamardShape& shape, float* row) {
  const float factor = 1 / std::sqrt(static_cast<float>(shape.length));
  const int64_t count = shape.blocks * shape.length;
  int64_t done = 1;  // size of the blocks that are transformed
  for (; 4 * done <= shape.length; done *= 4) {
    const float scale = 4 * done == shape.length ? factor : 1;
    if (done == 1) {
      add_quarters<1>(row, count, done, scale);
    } else {
      add_quarters<kLanes>(row, count, done, scale);
    }
  }
  if (done < shape.length) add_halves(row, count, done, factor);
  if (shape.blocks == 1) return;
  const int64_t width = std::min(shape.length, kColumns);
  for (int64_t column = 0; column < shape.length; column += width) {
    multiply_blocks(row + column, shape.length, width);
  }
}

// Checks the arguments, resizes `out` and sets `shape`. Returns false and fails the context if an
// argument is not supported.
bool check_hadamard(KernelContext& context, const Tensor& mat, Tensor& out, HadamardShape& shape) {
  if (mat.rank() == 0) {
    context.fail(ErrorCode::kInvalidArgument, "mat has no dimension to transform");
    return false;
  }
  const auto count = static_cast<uint32_t>(mat.size(mat.rank() - 1));
  const uint32_t blocks = count % kHadamardBlocks == 0 ? kHadamardBlocks : 1;
  if (count == 0 || !std::has_single_bit(count / blocks)) {
    context.fail(ErrorCode::kInvalidArgument, "a row has %u elements, expected 2^m or 28 * 2^m",
                 count);
    return false;
  }
  if (!check_dtype_in<TypeList<float, Half>>(context, mat) ||
      !check_dtype(context, out, mat.dtype(), "out") || !context.resize(out, mat.sizes()) ||
      !check_contiguous(context, mat, "mat") || !check_contiguous(context, out, "out") ||
      !check_data(context, {&mat, &out})) {
    return false;
  }
  shape = {mat.numel() / count, blocks, count / blocks};
  return true;
}

// Work per element: the time in ns, multiplied by kWorkPerNs.
constexpr int64_t kWork = 40;
constexpr int64_t kWorkWithBlocks = 400;

// Float rows are transformed in the result. Half rows are transformed in float in scratch memory.
void fast_hadamard_transform_out(KernelContext& context, const Tensor& mat, Tensor& out) {
  HadamardShape shape;
  if (!check_hadamard(context, mat, out, shape) || mat.numel() == 0) return;
  const int64_t count = shape.blocks * shape.length;
  const bool is_float = mat.dtype() == ScalarType::kFloat;
  auto* const memory = is_float ? out.unchecked_mutable_data<float>()
                                : static_cast<float*>(context.allocate_temp(
                                      {worker_count(context), count, sizeof(float)}));
  if (memory == nullptr) return;
  const ConvertRun load = convert_run(mat.dtype(), ScalarType::kFloat);
  const ConvertRun store = convert_run(ScalarType::kFloat, mat.dtype());
  const int64_t bytes = count * static_cast<int64_t>(mat.element_size());
  const int64_t rows = std::max(kGrain / count, int64_t{1});
  const int64_t work = work_of({mat.numel(), shape.blocks == 1 ? kWork : kWorkWithBlocks});
  parallel(context, (shape.rows + rows - 1) / rows, work, [&](int64_t item, int64_t worker) {
    for (int64_t i = item * rows; i < std::min((item + 1) * rows, shape.rows); ++i) {
      float* const row = memory + (is_float ? i : worker) * count;
      load(mat.unchecked_data<std::byte>() + i * bytes, 1, row, 1, count);
      transform_row(shape, row);
      if (!is_float) store(row, 1, out.unchecked_mutable_data<std::byte>() + i * bytes, 1, count);
    }
  });
}

}  // namespace

VITRINE_KERNEL(fast_hadamard_transform_out, "llama::fast_hadamard_transform.out",
               fast_hadamard_transform_out);

}  // namespace vitrine::llm
