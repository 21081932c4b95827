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

constexpr int64_t kBufferLength = 1024;
constexpr int64_t kMaxFilledPeriod = kBufferLength / 2;
struct alignas(64) FloatBuffer {
  float elements[kBufferLength];
};

// An input with contiguous elements in the order of the output. The input repeats after `period`
// elements.
struct Source {
  const std::byte* data;
  int64_t element_size;
  int64_t period;
  simd::Convert convert;  // conversion from Half or BFloat16; null for other dtypes
};

// True if the second operand can be a parameter, as in the BINARY operators of
// simd/elementwise_list.inc.
bool accepts_number(const FloatOperator& op, std::initializer_list<Operand> operands) {
  return operands.size() == 2 && !op.returns_bool;
}

// Returns the second operand if it is one number for all elements and can be a parameter.
// Otherwise, returns null.
const float* repeated_number(const FloatOperator& op, std::initializer_list<Operand> operands,
                             const Tensor& out) {
  if (!accepts_number(op, operands)) return nullptr;
  const Operand& second = operands.begin()[1];
  if (second.tensor == nullptr) return &second.value;
  const bool is_one = second.tensor->dtype() == ScalarType::kFloat && second.tensor->numel() == 1 &&
                      second.tensor->rank() <= out.rank() && out.numel() > 1;
  return is_one ? second.tensor->unchecked_data<float>() : nullptr;
}

bool is_float(ScalarType dtype) { return dtype == ScalarType::kFloat || is_reduced_float(dtype); }

// May also set a few elements after the first `count` elements.
void fill(float value, int64_t count, float* buffer) {
  constexpr int64_t kBlock = 16;
  static_assert(kBufferLength % kBlock == 0);
  float block[kBlock];
  std::fill_n(block, kBlock, value);
  for (int64_t i = 0; i < count; i += kBlock) std::memcpy(buffer + i, block, sizeof block);
}

// Fills `buffer` with `count` elements by repeating one period of an input. Converts Half and
// BFloat16 to float.
void fill(const Source& source, const std::byte* from, int64_t count, float* buffer) {
  auto* const to = reinterpret_cast<std::byte*>(buffer);
  int64_t size = source.element_size;
  if (source.convert != nullptr) {
    source.convert(from, to, source.period);
    size = sizeof(float);
  } else {
    std::memcpy(to, from, static_cast<size_t>(source.period * size));
  }
  if (source.period == 1 && size == sizeof(float)) return fill(*buffer, count, buffer);
  if (source.period == 1 && size == 1) {
    std::memset(to, std::to_integer<int>(*to), static_cast<size_t>(count));
    return;
  }
  for (int64_t done = source.period; done < count;) {
    const int64_t more = std::min(done, count - done);
    std::memcpy(to + done * size, to, static_cast<size_t>(more * size));
    done += more;
  }
}

// An operator, and the line of contiguous elements that the operator computes.
struct Line {
  simd::Run op;
  std::array<float, 3> parameters;
  size_t inputs;  // inputs with a source; other inputs are numbers
  Source sources[kMaxInputs];
  std::byte* out;
  int64_t out_size;
  simd::Convert convert_out;  // conversion to Half or BFloat16; null for other dtypes
  int64_t total_count;
  int64_t length;
  int64_t row;   // the longest period of the repeating inputs; 1 if none repeats
  int64_t step;  // elements that one call of the operator can compute

  // True if a buffer has copies of a short input, so that one call computes many rows.
  bool is_filled(const Source& source) const {
    return source.period < length && source.period <= kMaxFilledPeriod;
  }

  // Sets `length`, `row` and `step`. Returns false if two inputs have different periods other than
  // 1 and `count`.
  bool set_length(int64_t count) {
    length = count;
    row = 1;
    bool in_place = convert_out == nullptr;
    for (size_t i = 0; i < inputs; ++i) {
      const Source& source = sources[i];
      in_place = in_place && source.convert == nullptr && !is_filled(source);
      if (source.period == length || source.period == 1 || source.period == row) continue;
      if (row != 1) return false;
      row = source.period;
    }
    step = in_place ? length : kBufferLength;
    if (!in_place && row != 1 && row <= kMaxFilledPeriod) step -= kBufferLength % row;
    return true;
  }

  // Computes the elements [begin, end) of the line. `begin` must be a multiple of `row`. The line
  // begins at index first[0] in the output, and at first[i + 1] in sources[i].
  void run(const Loop::Offsets& first, int64_t begin, int64_t end) const {
    FloatBuffer buffers[kOperands];
    const void* operands[kMaxInputs] = {};
    const int64_t row_end = row > kMaxFilledPeriod ? row : length;
    int64_t column = 0;  // position in a row that is read in place
    for (int64_t at = begin; at < end;) {
      const int64_t count = std::min({step, end - at, row_end - column});
      for (size_t i = 0; i < inputs; ++i) {
        const Source& source = sources[i];
        float* const buffer = buffers[i].elements;
        operands[i] = buffer;
        const std::byte* from = source.data + first[i + 1] * source.element_size;
        if (is_filled(source)) {
          if (at == begin) fill(source, from, count, buffer);
          continue;
        }
        from += (source.period == length ? at : column) * source.element_size;
        if (source.convert != nullptr) {
          source.convert(from, buffer, count);
        } else {
          operands[i] = from;
        }
      }
      std::byte* const to = out + (first[0] + at) * out_size;
      float* const buffer = buffers[kMaxInputs].elements;
      op(operands, parameters.data(), convert_out == nullptr ? static_cast<void*>(to) : buffer,
         count, total_count);
      if (convert_out != nullptr) convert_out(buffer, to, count);
      at += count;
      column += count;
      if (column == row_end) column = 0;
    }
  }
};

bool has_dtypes(const FloatOperator& op, ScalarType common,
                std::initializer_list<Operand> operands) {
  bool is_condition = op.first_is_bool;
  for (const Operand& operand : operands) {
    if (operand.tensor != nullptr) {
      const ScalarType dtype = operand.tensor->dtype();
      if (is_condition ? dtype != ScalarType::kBool && dtype != ScalarType::kByte
                       : dtype != common) {
        return false;
      }
    }
    is_condition = false;
  }
  return true;
}

// Computes a small result with one call to the operator, without the cost of a general loop.
// Returns false without doing anything if `out` has more than kBufferLength elements or an operand
// is not supported. At least one operand must be a tensor with the sizes and dim order of `out`.
// Other operands must be numbers, tensors of the same kind, or Float tensors with one element and
// no more dimensions than `out`.
bool run_small(const FloatOperator& op, std::initializer_list<Operand> operands, Tensor& out) {
  FloatBuffer buffers[kMaxInputs];
  const void* inputs[kMaxInputs];
  const int64_t count = out.numel();
  if (count > kBufferLength) return false;
  bool has_shape = false;  // true if an input has the shape of `out`
  size_t i = 0;
  for (const Operand& operand : operands) {
    const Tensor* const tensor = operand.tensor;
    float* const buffer = buffers[i].elements;
    const void*& input = inputs[i++];
    const float* number = &operand.value;
    if (tensor != nullptr) {
      if (tensor->same_sizes(out) && tensor->same_dim_order(out)) {
        input = tensor->raw_data();
        has_shape = true;
        continue;
      }
      if (tensor->dtype() != ScalarType::kFloat || tensor->numel() != 1 ||
          tensor->rank() > out.rank()) {
        return false;
      }
      number = tensor->unchecked_data<float>();
    }
    fill(*number, count, buffer);
    input = buffer;
  }
  if (has_shape) op.run(inputs, op.parameters.data(), out.mutable_raw_data(), count, count);
  return has_shape;
}

// Resizes `out` to the broadcast shape of all tensors. Returns false and fails the context if the
// shapes do not broadcast.
bool resize_to_broadcast(KernelContext& context, std::initializer_list<Operand> operands,
                         Tensor& out) {
  const Tensor* tensors[kMaxInputs];
  size_t count = 0;
  for (const Operand& operand : operands) {
    if (operand.tensor != nullptr) tensors[count++] = operand.tensor;
  }
  int32_t storage[kMaxRank];
  const auto sizes = broadcast_sizes(context, std::span(tensors, count), storage);
  if (!sizes || !context.resize(out, *sizes)) return false;
  // All inputs are checked again, because resize() has changed an input that is also `out`.
  return std::ranges::all_of(std::span(tensors, count), [&](const Tensor* tensor) {
    return check_broadcastable(context, *tensor, out.sizes());
  });
}

// Maximum length of a short row. Short rows are gathered, so that one call computes all of them.
constexpr int64_t kMaxShortRow = 8;

// Computes a small result with short rows. Returns false without doing anything if the result is
// not small or needs a conversion.
bool run_short_rows(const Line& line, const Loop& loop) {
  const int64_t total = loop.rows() * loop.row_length();
  bool fits = line.convert_out == nullptr && total <= kBufferLength;
  for (size_t i = 0; i < line.inputs; ++i) {
    fits =
        fits && line.sources[i].convert == nullptr && line.sources[i].element_size == sizeof(float);
  }
  if (!fits || loop.row_length() > kMaxShortRow) return false;
  FloatBuffer buffers[kMaxInputs];
  const void* operands[kMaxInputs] = {};
  for (size_t i = 0; i < line.inputs; ++i) operands[i] = buffers[i].elements;
  int64_t at = 0;
  loop.run({}, [&](const Loop::Offsets& first, int64_t length) {
    for (size_t i = 0; i < line.inputs; ++i) {
      const auto* const from = reinterpret_cast<const float*>(line.sources[i].data) + first[i + 1];
      const int64_t stride = loop.row_stride(i + 1);
      for (int64_t k = 0; k < length; ++k) buffers[i].elements[at + k] = from[k * stride];
    }
    at += length;
  });
  line.op(operands, line.parameters.data(), line.out, total, total);
  return true;
}

// Runs `line` over each row of a general loop. Returns false and computes nothing unless the rows
// of `out` are contiguous, and the rows of each input are contiguous or repeat one element.
bool run_rows(KernelContext& context, Line& line, std::initializer_list<Operand> operands,
              int64_t work_each, Tensor& out) {
  const size_t rank = out.rank();
  std::array<int64_t, kMaxRank> box;
  std::ranges::copy(out.sizes(), box.begin());
  int64_t strides[kOperands][kMaxRank];
  for (auto& each : strides) std::fill_n(each, rank, 0);
  broadcast_strides(out, rank, strides[0]);
  size_t k = 0;
  for (const Operand& operand : operands) {
    ++k;
    if (operand.tensor != nullptr) broadcast_strides(*operand.tensor, rank, strides[k]);
  }
  const Loop loop(std::span<const int64_t>(box.data(), rank),
                  {strides[0], strides[1], strides[2], strides[3]});
  if (loop.row_stride(0) != 1 && loop.row_length() > 1) return false;
  if (run_short_rows(line, loop)) return true;
  for (size_t i = 0; i < line.inputs; ++i) {
    const int64_t stride = loop.row_stride(i + 1);
    if (stride != 0 && stride != 1) return false;
    line.sources[i].period = stride == 0 ? 1 : loop.row_length();
  }
  line.set_length(loop.row_length());
  parallel_ranges(
      context, loop.rows(), 1, work_each * line.length, [&](int64_t begin, int64_t end) {
        loop.run_rows({}, begin, end,
                      [&](const Loop::Offsets& row, int64_t length) { line.run(row, 0, length); });
      });
  return true;
}

// Computes a result of any size. Returns false in the same cases as elementwise(). Not inlined,
// because the large stack frame would slow down small calls.
[[gnu::noinline]] bool run_large(KernelContext& context, const FloatOperator& op, ScalarType common,
                                 std::initializer_list<Operand> operands, Tensor& out) {
  const bool reduced = common != ScalarType::kFloat;
  Line line;
  line.op = op.run;
  line.parameters = op.parameters;
  line.inputs = 0;
  line.out = out.unchecked_mutable_data<std::byte>();
  line.out_size = static_cast<int64_t>(out.element_size());
  line.convert_out = reduced && !op.returns_bool ? simd::from_float(common) : nullptr;
  int64_t moved = line.out_size;  // bytes read and written per element
  bool has_shape = false;         // true if an input has the shape of `out`
  bool has_period = true;
  const float* const number = repeated_number(op, operands, out);
  if (number != nullptr) line.parameters[simd::kNumberParameter] = *number;
  for (const Operand& operand : operands) {
    if (number != nullptr && line.inputs == 1) break;
    Source& source = line.sources[line.inputs++];
    if (operand.tensor == nullptr) {
      source = {reinterpret_cast<const std::byte*>(&operand.value), sizeof(float), 1, nullptr};
      continue;
    }
    const Tensor& tensor = *operand.tensor;
    source = {tensor.unchecked_data<std::byte>(), static_cast<int64_t>(tensor.element_size()),
              repeat_period(tensor, out),
              reduced && tensor.dtype() == common ? simd::to_float(common) : nullptr};
    has_shape = has_shape || tensor.same_sizes(out);
    has_period = has_period && source.period != 0;
    moved += source.element_size;
  }
  if (has_shape && has_period && line.set_length(out.numel())) {
    line.total_count = line.length;
    parallel_ranges(context, line.length, line.row != 1 ? line.row : kGrain, moved,
                    [&](int64_t begin, int64_t end) { line.run({}, begin, end); });
    return true;
  }
  if (!resize_to_broadcast(context, operands, out) || out.numel() == 0) return true;
  line.total_count = out.numel();
  return run_rows(context, line, operands, moved, out);
}

// Computes a result of any size. Does not call run_small() if `try_small` is false.
[[gnu::noinline]] bool run_mixed(KernelContext& context, const FloatOperator& op, ScalarType common,
                                 std::initializer_list<Operand> operands, bool try_small,
                                 Tensor& out) {
  if (!is_float(common) || out.dtype() != (op.returns_bool ? ScalarType::kBool : common) ||
      !has_dtypes(op, common, operands)) {
    return false;
  }
  return (try_small && run_small(op, operands, out)) ||
         run_large(context, op, common, operands, out);
}

}  // namespace

bool elementwise(KernelContext& context, const FloatOperator& op, ScalarType common,
                 std::initializer_list<Operand> operands, Tensor& out) {
  // Calls the operator directly for a small result if all inputs are tensors like `out`, or the
  // second operand is a number.
  const int64_t count = out.numel();
  const bool is_small = common == ScalarType::kFloat && out.dtype() == common && !op.returns_bool &&
                        !op.first_is_bool && count <= kBufferLength;
  if (!is_small) {
    return run_mixed(context, op, common, operands, common == ScalarType::kFloat, out);
  }
  const void* inputs[kMaxInputs];
  const float* parameters = op.parameters.data();
  float own_parameters[3];
  size_t i = 0;
  for (const Operand& operand : operands) {
    const Tensor* const tensor = operand.tensor;
    if (tensor != nullptr && tensor->dtype() == common && tensor->same_sizes(out) &&
        tensor->same_dim_order(out)) {
      inputs[i++] = tensor->raw_data();
    } else if (i == 1 && accepts_number(op, operands) &&
               (tensor == nullptr || (tensor->dtype() == common && tensor->numel() == 1 &&
                                      tensor->rank() <= out.rank()))) {
      static_assert(simd::kNumberParameter == 1);
      own_parameters[0] = op.parameters[0];
      own_parameters[1] = tensor == nullptr ? operand.value : *tensor->unchecked_data<float>();
      own_parameters[2] = 0;
      parameters = own_parameters;
      inputs[i++] = nullptr;
    } else {
      const bool try_small = tensor == nullptr || tensor->numel() == 1;
      return run_mixed(context, op, common, operands, try_small, out);
    }
  }
  op.run(inputs, parameters, out.mutable_raw_data(), count, count);
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
  // PyTorch rounds the Scalar of a comparison to the common dtype.
  const Scalar number = op.returns_bool ? rounded(other, common) : other;
  return elementwise(context, op, common, {self, number.to<float>()}, out);
}

}  // namespace vitrine::optimized
