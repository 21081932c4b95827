// Attention in plain loops, as a reference for other implementations.
#include <cmath>
#include <limits>

#include "kernels/llm/attention.h"
#include "kernels/util/convert.h"

namespace vitrine::llm {

namespace {

constexpr int64_t kBlock = 128;
constexpr float kNever = -std::numeric_limits<float>::infinity();

// The vector at `offset` as floats, dequantized if it is int8.
void read_row(const Rows& rows, int64_t offset, float* out) {
  const Tensor& tensor = *rows.tensor;
  convert_run(tensor.dtype(), ScalarType::kFloat)(
      tensor.unchecked_data<std::byte>() + offset * static_cast<int64_t>(tensor.element_size()), 1,
      out, 1, rows.width);
  if (rows.scales == nullptr) return;
  const int64_t row = offset / rows.width;
  for (int64_t d = 0; d < rows.width; ++d) {
    out[d] = (out[d] - static_cast<float>(rows.zero_points[row])) * rows.scales[row];
  }
}

// The sum of value vectors with the weights exp(score - largest score so far).
class RunningSoftmax {
 public:
  explicit RunningSoftmax(float* sums, int64_t width) : sums_(sums), width_(width) {
    std::fill_n(sums, width, 0.0F);
  }

  // Replaces each score with its weight, exp(score - largest score so far). Rescales the earlier
  // sums to the new largest score.
  void weigh(float* scores, int64_t count) {
    float largest = largest_;
    for (int64_t n = 0; n < count; ++n) largest = std::max(largest, scores[n]);
    if (largest == kNever) {  // all keys are masked, or scores are NaN
      for (int64_t n = 0; n < count; ++n) scores[n] = scores[n] == kNever ? 0 : scores[n];
    } else {
      for (int64_t n = 0; n < count; ++n) scores[n] = std::exp(scores[n] - largest);
      const float factor = std::exp(largest_ - largest);
      total_ *= factor;
      for (int64_t d = 0; d < width_; ++d) sums_[d] *= factor;
      largest_ = largest;
    }
    for (int64_t n = 0; n < count; ++n) total_ += scores[n];
  }
  void add(float weight, const float* value) {
    for (int64_t d = 0; d < width_; ++d) sums_[d] += weight * value[d];
  }
  // If all keys are masked, the total weight is 0 and the result is NaN.
  void finish() {
    const float factor = 1 / total_;
    for (int64_t d = 0; d < width_; ++d) sums_[d] *= factor;
  }

 private:
  float* sums_;
  int64_t width_;
  float largest_ = kNever;
  float total_ = 0;
};

struct Memory {
  float* query;
  float* row;
  float* sums;
};

void attend_row(const Attention& a, int64_t batch, int64_t token, int64_t head,
                const Memory& memory) {
  read_row(a.query, a.query.offset(batch, token, head), memory.query);
  const int64_t key_head = head / a.group();
  const int64_t keys = a.keys_of(token);
  RunningSoftmax softmax(memory.sums, a.width);
  for (int64_t first = 0; first < keys; first += kBlock) {
    const int64_t count = std::min(kBlock, keys - first);
    float scores[kBlock];
    for (int64_t n = 0; n < count; ++n) {
      read_row(a.key, a.key.offset(batch, first + n, key_head), memory.row);
      float dot = 0;
      for (int64_t d = 0; d < a.width; ++d) dot += memory.query[d] * memory.row[d];
      scores[n] = dot * a.scale + (a.mask == nullptr ? 0 : a.mask[token * a.keys + first + n]);
    }
    softmax.weigh(scores, count);
    for (int64_t n = 0; n < count; ++n) {
      read_row(a.value, a.value.offset(batch, first + n, key_head), memory.row);
      softmax.add(scores[n], memory.row);
    }
  }
  softmax.finish();
  Tensor& out = *a.out;
  convert_run(ScalarType::kFloat, out.dtype())(
      memory.sums, 1,
      out.unchecked_mutable_data<std::byte>() +
          a.query.offset(batch, token, head) * static_cast<int64_t>(out.element_size()),
      1, a.width);
}

}  // namespace

void attend(KernelContext& context, const Attention& a) {
  if (a.width == 0) return;
  auto* const memory = static_cast<float*>(context.allocate_temp({3, a.width, sizeof(float)}));
  if (memory == nullptr) return;
  const Memory parts = {memory, memory + a.width, memory + 2 * a.width};
  for (int64_t batch = 0; batch < a.batches; ++batch) {
    for (int64_t token = 0; token < a.tokens; ++token) {
      for (int64_t head = 0; head < a.query_heads; ++head) {
        attend_row(a, batch, token, head, parts);
      }
    }
  }
}

}  // namespace vitrine::llm
