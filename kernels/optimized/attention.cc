// Attention on all threads: blocks of keys and values are read once for all query heads that share
// them, and never is there more than a block of scores.
//
// Many queries are multiplied as matrices, a few row by row.
//
// An item of work is a block of queries of one head of keys; or, for few queries and a long cache,
// a part of the keys with all heads, so that memory is read in order. Such parts are joined at the
// end.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/llm/attention.h"
#include "kernels/optimized/attention_partition.h"
#include "kernels/optimized/attention_products.h"
#include "kernels/optimized/simd/attention.h"
#include "kernels/optimized/simd/convert.h"
#include "kernels/optimized/simd/quantize.h"
#include "kernels/util/independent.h"
#include "kernels/util/parallel.h"
#include "runtime/core/checked_math.h"
#include "vitrine/kernel.h"

namespace vitrine::optimized {

namespace {

using llm::Attention;
using llm::Rows;
using simd::RunningSoftmax;

constexpr int64_t kRowsToWiden = 8;  // from so many on, floats are made of a block once for all

const std::byte* element(const Rows& rows, int64_t offset) {
  return rows.tensor->unchecked_data<std::byte>() +
         offset * static_cast<int64_t>(rows.tensor->element_size());
}

// What an item leaves: sums of values for each of its rows, and what they have been divided by.
struct Sums {
  float* values;  // rows * stride
  RunningSoftmax* softmax;
};

// Memory of one thread.
struct Scratch {
  float* queries;  // rows * stride
  float* scores;   // rows * kKeyBlock
  float* factors;  // rows
  float* seen;     // rows
  float* block;    // kKeyBlock * stride, if blocks are widened
  Sums sums;       // unless they outlive the item
};

// Temporary memory as floats, counted first and then taken.
class Arena {
 public:
  bool add(int64_t count, int64_t each) {
    int64_t product = 0;
    return !mul_overflows(count, each, &product) && !add_overflows(size_, product, &size_);
  }
  bool allocate(KernelContext& context) {
    next_ = static_cast<float*>(context.allocate_temp({size_, sizeof(float)}));
    return next_ != nullptr;
  }
  float* take(int64_t count) {
    float* const result = next_;
    next_ += count;
    return result;
  }

 private:
  int64_t size_ = 0;
  float* next_ = nullptr;
};

class BlockedAttention {
 public:
  BlockedAttention(const Attention& arguments, const Partition& partition)
      : a_(arguments),
        p_(partition),
        rows_(partition.rows()),
        widens_(arguments.key.tensor->dtype() == ScalarType::kFloat
                    ? partition.by_products && partition.stride != arguments.width
                    : partition.head_rows >= kRowsToWiden) {}

  void run(KernelContext& context) {
    if (!make_memory(context)) return;
    const double work = 4.0 * static_cast<double>(a_.batches * a_.query_heads * a_.tokens) *
                        static_cast<double>(a_.keys) * static_cast<double>(a_.width);
    const auto work_units = static_cast<int64_t>(std::min(work, 1e15));
    parallel(context, p_.items(a_), work_units, [&](int64_t item, int64_t worker) {
      run_item(item, scratch(worker), p_.key_parts == 1 ? scratch(worker).sums : part(item));
    });
    if (p_.key_parts == 1) return;
    const int64_t joined = p_.items(a_) / p_.key_parts;
    parallel(context, joined, joined * p_.key_parts * rows_ * p_.stride,
             [&](int64_t i, int64_t) { join(i); });
  }

 private:
  // Rows of queries of one head of keys: those of the tokens first .. first + tokens.
  struct Place {
    int64_t batch;
    int64_t token;
    int64_t tokens;
    int64_t head;  // of keys; the first of an item
    int64_t part;
  };

  Place place(int64_t item) const {
    Place result{};
    result.part = item % p_.key_parts;
    item /= p_.key_parts;
    const int64_t block = item % p_.token_blocks;
    item /= p_.token_blocks;
    result.head = item % p_.head_blocks * p_.heads;
    result.batch = item / p_.head_blocks;
    result.token = block * p_.tokens;
    result.tokens = std::min(p_.tokens, a_.tokens - result.token);
    return result;
  }

  int64_t sums_size() const { return rows_ * (p_.stride + 2); }
  int64_t scratch_size() const {
    return rows_ * (p_.stride + kKeyBlock + 2) + sums_size() +
           (widens_ ? kKeyBlock * p_.stride : 0);
  }

  bool make_memory(KernelContext& context) {
    const int64_t parts = p_.key_parts == 1 ? 0 : p_.items(a_);
    Arena arena;
    if (!arena.add(worker_count(context), scratch_size()) || !arena.add(parts, sums_size())) {
      context.fail(ErrorCode::kMemoryAllocationFailed, "attention needs too much memory");
      return false;
    }
    if (!arena.allocate(context)) return false;
    scratch_ = arena.take(worker_count(context) * scratch_size());
    parts_ = arena.take(parts * sums_size());
    return true;
  }
  Sums sums_at(float* memory) const {
    static_assert(sizeof(RunningSoftmax) == 2 * sizeof(float));
    return {memory, reinterpret_cast<RunningSoftmax*>(memory + rows_ * p_.stride)};
  }
  Sums part(int64_t item) const { return sums_at(parts_ + item * sums_size()); }
  Scratch scratch(int64_t worker) const {
    float* const memory = scratch_ + worker * scratch_size();
    float* const scores = memory + sums_size() + rows_ * p_.stride;
    float* const factors = scores + rows_ * kKeyBlock;
    float* const seen = factors + rows_;
    return {memory + sums_size(), scores, factors, seen, seen + rows_, sums_at(memory)};
  }

  // Row r of a head is of token r / group and query head r % group.
  int64_t rows_of_head(const Place& at) const { return at.tokens * a_.group(); }
  int64_t query_offset(const Place& at, int64_t head, int64_t row) const {
    return a_.query.offset(at.batch, at.token + row / a_.group(),
                           head * a_.group() + row % a_.group());
  }

  // Row r of a head of keys in memory.
  int64_t row(const Place& at, int64_t head, int64_t r) const {
    return (head - at.head) * p_.head_rows + r;
  }

  void load_query(int64_t offset, float* to) const {
    const Rows& query = a_.query;
    if (query.scales == nullptr) {
      simd::to_float(query.tensor->dtype())(element(query, offset), to, a_.width);
    } else {
      const int64_t vector = offset / a_.width;
      simd::dequantize(query.tensor->unchecked_data<int8_t>() + offset, query.zero_points[vector],
                       query.scales[vector], to, a_.width);
    }
    for (int64_t d = 0; d < a_.width; ++d) to[d] *= a_.scale;
  }

  // In rows; for products in columns, those of a head together. `one` holds one query.
  void load_queries(const Place& at, float* to, float* one) const {
    std::fill_n(to, rows_ * p_.stride, 0.0F);
    for (int64_t head = at.head; head < at.head + p_.heads; ++head) {
      for (int64_t r = 0; r < rows_of_head(at); ++r) {
        const int64_t offset = query_offset(at, head, r);
        if (!p_.by_products) {
          load_query(offset, to + row(at, head, r) * p_.stride);
          continue;
        }
        load_query(offset, one);
        float* const column = to + row(at, head, 0) * p_.stride + r;
        for (int64_t d = 0; d < a_.width; ++d) column[d * p_.head_rows] = one[d];
      }
    }
  }

  simd::CacheRows cache_rows(const Rows& rows, const Place& at, int64_t head, int64_t first,
                             int64_t count) const {
    const int64_t offset = rows.offset(at.batch, first, head);
    const int64_t vector = offset / a_.width;
    const bool quantized = rows.scales != nullptr;
    return {rows.tensor->dtype(),
            element(rows, offset),
            rows.token_stride,
            count,
            a_.width,
            quantized ? rows.scales + vector : nullptr,
            quantized ? rows.zero_points + vector : nullptr,
            rows.token_stride / a_.width};
  }

  // The same rows, as floats if those are read often.
  simd::CacheRows widened(const simd::CacheRows& rows, float* to) const {
    if (!widens_) return rows;
    const simd::Convert convert = simd::to_float(rows.dtype);
    const auto size = static_cast<int64_t>(a_.key.tensor->element_size());
    const auto* const from = static_cast<const std::byte*>(rows.data);
    for (int64_t n = 0; n < rows.count; ++n) {
      const std::byte* const row = from + n * rows.stride * size;
      if (rows.scales == nullptr) {
        convert(row, to + n * p_.stride, rows.width);
      } else {
        simd::dequantize(reinterpret_cast<const int8_t*>(row),
                         rows.zero_points[n * rows.parameter_stride],
                         rows.scales[n * rows.parameter_stride], to + n * p_.stride, rows.width);
      }
      std::fill(to + n * p_.stride + rows.width, to + (n + 1) * p_.stride, 0.0F);
    }
    return {ScalarType::kFloat, to, p_.stride, rows.count, rows.width, nullptr, nullptr, 0};
  }

  // How many of the keys first .. first + count row r sees.
  int64_t seen_by(const Place& at, int64_t r, int64_t first, int64_t count) const {
    return std::clamp<int64_t>(a_.keys_of(at.token + r / a_.group()) - first, 0, count);
  }
  const float* mask_of(const Place& at, int64_t r, int64_t first) const {
    return a_.mask == nullptr ? nullptr : a_.mask + (at.token + r / a_.group()) * a_.keys + first;
  }

  // Multiplies column n of scores by the scale of row n, which is cheaper here than in the loops
  // over its elements.
  static void apply_scales(const simd::CacheRows& rows, const simd::FloatRows& scores) {
    if (rows.scales == nullptr) return;
    alignas(64) float scales[kKeyBlock];
    const int64_t count = rows.count;
    const int64_t stride = rows.parameter_stride;
    for (int64_t n = 0; n < count; ++n) scales[n] = rows.scales[n * stride];
    for (int64_t r = 0; r < scores.count; ++r) {
      float* const row = scores.data + r * scores.stride;
      VITRINE_INDEPENDENT_ITERATIONS
      for (int64_t n = 0; n < count; ++n) row[n] *= scales[n];
    }
  }

  // Adds keys first .. first + count to what the rows of one head have.
  void add_block(const Place& at, int64_t head, int64_t first, int64_t count,
                 const Scratch& scratch, const Sums& sums) const {
    const int64_t rows = rows_of_head(at);
    const int64_t start = row(at, head, 0);
    const simd::FloatRows scores{scratch.scores, kKeyBlock, rows};
    const simd::CacheRows keys = widened(cache_rows(a_.key, at, head, first, count), scratch.block);
    simd::multiply_keys({scratch.queries + start * p_.stride, p_.stride, rows}, keys, scores);
    apply_scales(keys, scores);
    for (int64_t r = 0; r < rows; ++r) {
      scratch.factors[r] =
          simd::weigh(scratch.scores + r * kKeyBlock, mask_of(at, r, first),
                      seen_by(at, r, first, count), count, sums.softmax[start + r]);
    }
    const simd::CacheRows values =
        widened(cache_rows(a_.value, at, head, first, count), scratch.block);
    apply_scales(values, scores);
    simd::add_values(scores, values, scratch.factors,
                     {sums.values + start * p_.stride, p_.stride, rows});
  }

  // The same by products.
  void multiply_block(const Place& at, int64_t head, int64_t first, int64_t count,
                      const Scratch& scratch, const Sums& sums) const {
    const int64_t rows = p_.head_rows;
    const int64_t start = row(at, head, 0);
    multiply_keys_by_queries(widened(cache_rows(a_.key, at, head, first, count), scratch.block),
                             scratch.queries + start * p_.stride, rows, scratch.scores);
    for (int64_t r = 0; r < rows; ++r) {
      const bool is_there = r < rows_of_head(at);
      scratch.seen[r] = static_cast<float>(is_there ? seen_by(at, r, first, count) : count);
      const float* const mask = is_there ? mask_of(at, r, first) : nullptr;
      for (int64_t n = 0; mask != nullptr && n < count; ++n) {
        scratch.scores[n * rows + r] += mask[n];
      }
    }
    simd::weigh_columns(scratch.scores, rows, count, scratch.seen, sums.softmax + start,
                        scratch.factors);
    add_values_by_weights(widened(cache_rows(a_.value, at, head, first, count), scratch.block),
                          scratch.scores, rows, scratch.factors,
                          {sums.values + start * p_.stride, p_.stride, rows_of_head(at)});
  }

  void run_item(int64_t item, const Scratch& scratch, const Sums& sums) const {
    const Place at = place(item);
    load_queries(at, scratch.queries, sums.values);
    std::fill_n(sums.values, rows_ * p_.stride, 0.0F);
    std::fill_n(sums.softmax, rows_, RunningSoftmax{-std::numeric_limits<float>::infinity(), 0.0F});
    const int64_t keys = a_.keys_of(at.token + at.tokens - 1);
    const int64_t blocks = ceil_div(keys, kKeyBlock);
    const int64_t end = std::min(keys, blocks * (at.part + 1) / p_.key_parts * kKeyBlock);
    for (int64_t first = blocks * at.part / p_.key_parts * kKeyBlock; first < end;
         first += kKeyBlock) {
      for (int64_t head = at.head; head < at.head + p_.heads; ++head) {
        const int64_t count = std::min(kKeyBlock, end - first);
        if (p_.by_products) {
          multiply_block(at, head, first, count, scratch, sums);
        } else {
          add_block(at, head, first, count, scratch, sums);
        }
      }
    }
    if (p_.key_parts == 1) store(at, sums);
  }

  // Joins the parts of what would be item `i` if there were one part only.
  void join(int64_t i) const {
    const int64_t first = i * p_.key_parts;
    const Sums all = part(first);
    for (int64_t r = 0; r < rows_; ++r) {
      float largest = all.softmax[r].largest;
      for (int64_t k = 1; k < p_.key_parts; ++k) {
        largest = std::max(largest, part(first + k).softmax[r].largest);
      }
      // Where all is masked, the total is zero whatever it is multiplied by.
      if (largest == -std::numeric_limits<float>::infinity()) largest = 0;
      float total = 0;
      float* const to = all.values + r * p_.stride;
      for (int64_t k = 0; k < p_.key_parts; ++k) {
        const Sums from = part(first + k);
        const float factor = std::exp(from.softmax[r].largest - largest);
        total += from.softmax[r].total * factor;
        const float* const values = from.values + r * p_.stride;
        for (int64_t d = 0; d < a_.width; ++d) {
          to[d] = values[d] * factor + (k == 0 ? 0.0F : to[d]);
        }
      }
      all.softmax[r].total = total;
    }
    store(place(first), all);
  }

  void store(const Place& at, const Sums& sums) const {
    Tensor& out = *a_.out;
    const simd::Convert convert = simd::from_float(out.dtype());
    const auto size = static_cast<int64_t>(out.element_size());
    for (int64_t head = at.head; head < at.head + p_.heads; ++head) {
      for (int64_t r = 0; r < rows_of_head(at); ++r) {
        float* const values = sums.values + row(at, head, r) * p_.stride;
        // A row that attends to nothing gets 0 times infinity.
        const float factor = 1 / sums.softmax[row(at, head, r)].total;
        for (int64_t d = 0; d < a_.width; ++d) values[d] *= factor;
        convert(values, out.unchecked_mutable_data<std::byte>() + query_offset(at, head, r) * size,
                a_.width);
      }
    }
  }

  const Attention& a_;
  const Partition p_;
  const int64_t rows_;
  const bool widens_;
  float* scratch_ = nullptr;
  float* parts_ = nullptr;
};

// An Attend.
void attend(KernelContext& context, const Attention& arguments) {
  BlockedAttention(arguments, partition(context, arguments)).run(context);
}

}  // namespace

VITRINE_KERNEL(custom_quantized_sdpa_out, "llama::custom_quantized_sdpa.out",
               llm::custom_quantized_sdpa_out<attend>);
VITRINE_KERNEL(custom_sdpa_out, "llama::custom_sdpa.out", llm::custom_sdpa_out<attend>);
VITRINE_KERNEL(sdpa_with_kv_cache_out, "llama::sdpa_with_kv_cache.out",
               llm::sdpa_with_kv_cache_out<attend>);

}  // namespace vitrine::optimized
