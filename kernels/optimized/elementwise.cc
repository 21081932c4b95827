#include "kernels/optimized/elementwise.h"

#include <algorithm>
#include <cstring>

#include "kernels/optimized/as_float.h"
#include "kernels/optimized/simd/convert.h"
#include "kernels/util/box_loop.h"
#include "kernels/util/broadcast.h"
#include "kernels/util/parallel.h"
#include "kernels/util/scalar_value.h"

namespace vitrine::optimized {

namespace {

constexpr size_t kMaxInputs = 3;
constexpr size_t kOperands = kMaxInputs + 1;  // operand 0 is the output
using Loop = BoxLoop<kOperands>;

constexpr int64_t kBufferLength = 1024;  // elements
struct alignas(64) FloatBuffer {
  float elements[kBufferLength];
};

// An input operand: a tensor whose elements are converted, repeated or read in place, or a number.
struct Source {
  const std::byte* data = nullptr;  // null for a number
  int64_t element_size = sizeof(float);
  simd::Convert convert = nullptr;  // conversion from Half or BFloat16
  float number = 0;
};

bool is_float(ScalarType dtype) { return dtype == ScalarType::kFloat || is_reduced_float(dtype); }

class Task {
 public:
  FloatOperator op;
  size_t inputs = 0;
  Source sources[kMaxInputs];
  std::byte* out = nullptr;
  int64_t out_size = 0;
  simd::Convert convert_out = nullptr;
  int64_t total_count = 0;  // elements of the result

  // Computes the elements [begin, end) of a row.
  void run(const Loop& loop, const Loop::Offsets& row, int64_t begin, int64_t end) const {
    const bool direct = convert_out == nullptr;
    FloatBuffer buffers[kOperands];
    bool repeats = false;  // true if a buffer holds a number or a repeated element
    bool plain = direct;
    const void* operands[kMaxInputs];
    const int64_t max_count = std::min(kBufferLength, end - begin);
    for (size_t i = 0; i < inputs; ++i) {
      const Source& source = sources[i];
      if (source.data == nullptr) {
        std::fill_n(buffers[i].elements, max_count, source.number);
      } else if (loop.row_stride(i + 1) == 0) {
        repeat(source, source.data + row[i + 1] * source.element_size, max_count, buffers[i]);
      } else {
        plain = plain && source.convert == nullptr;
        continue;
      }
      repeats = true;
      operands[i] = buffers[i].elements;
    }
    // If all operands are read and written in place, one run covers all elements.
    const int64_t step = plain && !repeats ? end - begin : kBufferLength;
    for (int64_t at = begin; at < end; at += step) {
      const int64_t count = std::min(step, end - at);
      for (size_t i = 0; i < inputs; ++i) {
        const Source& source = sources[i];
        if (source.data == nullptr || loop.row_stride(i + 1) == 0) continue;
        const std::byte* const from = source.data + (row[i + 1] + at) * source.element_size;
        operands[i] = from;
        if (source.convert == nullptr) continue;
        source.convert(from, buffers[i].elements, count);
        operands[i] = buffers[i].elements;
      }
      std::byte* const to = out + (row[0] + at) * out_size;
      op.run(operands, op.parameters.data(),
             direct ? static_cast<void*>(to) : buffers[kMaxInputs].elements, count, total_count);
      if (!direct) convert_out(buffers[kMaxInputs].elements, to, count);
    }
  }

 private:
  static void repeat(const Source& source, const std::byte* element, int64_t count,
                     FloatBuffer& buffer) {
    if (source.element_size == 1) {
      std::memset(buffer.elements, static_cast<int>(*element), static_cast<size_t>(count));
      return;
    }
    float value;
    if (source.convert != nullptr) {
      source.convert(element, &value, 1);
    } else {
      std::memcpy(&value, element, sizeof value);
    }
    std::fill_n(buffer.elements, count, value);
  }
};

}  // namespace

bool elementwise(KernelContext& context, const FloatOperator& op, ScalarType common,
                 std::initializer_list<Operand> operands, Tensor& out) {
  if (!is_float(common) || out.dtype() != (op.returns_bool ? ScalarType::kBool : common)) {
    return false;
  }
  const bool reduced = is_reduced_float(common);
  Task task{};
  task.op = op;
  const Tensor* tensors[kMaxInputs];
  size_t num_tensors = 0;
  auto moved = static_cast<int64_t>(out.element_size());  // bytes read and written per element
  for (const Operand& operand : operands) {
    Source& source = task.sources[task.inputs++];
    source.number = operand.value;
    if (operand.tensor == nullptr) continue;
    const ScalarType dtype = operand.tensor->dtype();
    if (task.inputs == 1 && op.first_is_bool) {
      if (dtype != ScalarType::kBool && dtype != ScalarType::kByte) return false;
    } else {
      if (dtype != common) return false;
      if (reduced) source.convert = simd::to_float(dtype);
    }
    source.element_size = static_cast<int64_t>(operand.tensor->element_size());
    moved += source.element_size;
    tensors[num_tensors++] = operand.tensor;
  }
  int32_t storage[kMaxRank];
  const auto sizes = broadcast_sizes(context, std::span(tensors, num_tensors), storage);
  if (!sizes || !context.resize(out, *sizes)) return true;
  const size_t rank = out.rank();
  std::array<int64_t, kMaxRank> box{};
  std::ranges::copy(out.sizes(), box.begin());
  int64_t strides[kOperands][kMaxRank] = {};
  broadcast_strides(out, rank, strides[0]);
  size_t i = 0;
  for (const Operand& operand : operands) {
    const size_t k = ++i;
    if (operand.tensor == nullptr) continue;
    // If `out` is also an input, resizing it has changed the input's shape.
    if (!check_broadcastable(context, *operand.tensor, out.sizes())) return true;
    broadcast_strides(*operand.tensor, rank, strides[k]);
    task.sources[k - 1].data = operand.tensor->unchecked_data<std::byte>();
  }
  if (out.numel() == 0) return true;
  const Loop loop(std::span<const int64_t>(box.data(), rank),
                  {strides[0], strides[1], strides[2], strides[3]});
  if (loop.row_stride(0) != 1 && loop.row_length() > 1) return false;
  for (size_t k = 1; k <= task.inputs; ++k) {
    if (loop.row_stride(k) != 0 && loop.row_stride(k) != 1) return false;
  }
  task.out = out.unchecked_mutable_data<std::byte>();
  task.out_size = static_cast<int64_t>(out.element_size());
  task.total_count = out.numel();
  if (reduced && !op.returns_bool) task.convert_out = simd::from_float(common);

  if (loop.rows() == 1) {
    parallel_ranges(context, loop.row_length(), kGrain, moved,
                    [&](int64_t begin, int64_t end) { task.run(loop, {}, begin, end); });
    return true;
  }
  parallel_ranges(context, loop.rows(), 1, moved * loop.row_length(),
                  [&](int64_t begin, int64_t end) {
                    loop.run_rows({}, begin, end, [&](const Loop::Offsets& row, int64_t length) {
                      task.run(loop, row, 0, length);
                    });
                  });
  return true;
}

bool binary(KernelContext& context, const FloatOperator& op, const Tensor& self,
            const Tensor& other, Tensor& out) {
  return self.dtype() == other.dtype() &&
         elementwise(context, op, self.dtype(), {self, other}, out);
}

bool binary(KernelContext& context, const FloatOperator& op, const Tensor& self,
            const Scalar& other, Tensor& out) {
  const ScalarType common = promote(self.dtype(), other);
  if (common != self.dtype() || !is_float(common) || !fits(other, common)) return false;
  // PyTorch treats the Scalar of a comparison as a tensor, so it is rounded.
  const Scalar number = op.returns_bool ? rounded(other, common) : other;
  return elementwise(context, op, common, {self, number.to<float>()}, out);
}

}  // namespace vitrine::optimized
