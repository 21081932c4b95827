// Attention on all threads. Each block of keys and values is read once for all query heads that
// share it. A thread has the scores of one block at a time.
//
// Products with many queries are matrix products. Products with few queries are computed row by
// row.
//
// A work item is usually a block of queries with one key head. For few queries and many keys, a
// work item is a part of the keys for all key heads, so that memory is read in order. The results
// of all parts are then merged.
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

// Minimum number of query rows for which a block of keys or values is converted to float once. For
// fewer rows, each product converts the elements.
constexpr int64_t kMinRowsToWiden = 8;

const std::byte* element_at(const Rows& rows, int64_t offset) {
  return rows.tensor->unchecked_data<std::byte>() +
         offset * static_cast<int64_t>(rows.tensor->element_size());
}

struct Sums {
  float* values;  // rows * stride
  RunningSoftmax* softmax;
};

// Scratch memory of one thread. The comments give the number of floats.
struct Scratch {
  float* queries;  // rows * stride
  float* scores;   // rows * kKeyBlock
  float* factors;  // rows
  float* visible;  // rows
  float* block;    // kKeyBlock * stride, if blocks are widened
  Sums sums;       // not used if the sums must outlive the work item
};

// Temporary memory for arrays of floats: first add() all arrays, then allocate() once, then take()
// the arrays.
class FloatArena {
 public:
  bool add(int64_t count, int64_t size) {
    int64_t product = 0;
    return !mul_overflows(count, size, &product) && !add_overflows(size_, product, &size_);
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
                    ? partition.as_matrices && partition.stride != arguments.width
                    : partition.head_rows >= kMinRowsToWiden) {}

  void run(KernelContext& context) {
    if (!make_memory(context)) return;
    parallel(context, p_.items(a_), attention_work(a_), [&](int64_t item, int64_t worker) {
      run_item(item, scratch(worker), p_.key_parts == 1 ? scratch(worker).sums : part(item));
    });
    if (p_.key_parts == 1) return;
    const int64_t merged = p_.items(a_) / p_.key_parts;
    parallel(context, merged, merged * p_.key_parts * rows_ * p_.stride,
             [&](int64_t i, int64_t) { merge(i); });
  }

 private:
  // The queries of a work item (consecutive tokens of one batch) and their part of the keys.
  struct QueryBlock {
    int64_t batch;
    int64_t token;
    int64_t tokens;
    int64_t head;  // the first key head
    int64_t part;
  };

  QueryBlock query_block(int64_t item) const {
    QueryBlock result{};
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
    FloatArena arena;
    if (!arena.add(worker_count(context), scratch_size()) || !arena.add(parts, sums_size())) {
      context.fail(ErrorCode::kMemoryAllocationFailed,
                   "the size of attention's temporary memory overflows");
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
    float* const visible = factors + rows_;
    return {memory + sums_size(), scores, factors, visible, visible + rows_, sums_at(memory)};
  }

  // Number of query rows of a key head: one for each token of the work item and each of the `group`
  // query heads. Row r is query head r % group of token r / group.
  int64_t rows_of_head(const QueryBlock& at) const { return at.tokens * a_.group(); }
  int64_t query_offset(const QueryBlock& at, int64_t head, int64_t row) const {
    return a_.query.offset(at.batch, at.token + row / a_.group(),
                           head * a_.group() + row % a_.group());
  }

  // Converts index r within a key head to an index within the work item.
  int64_t row(const QueryBlock& at, int64_t head, int64_t r) const {
    return (head - at.head) * p_.head_rows + r;
  }

  void load_query(int64_t offset, float* to) const {
    const Rows& query = a_.query;
    if (query.scales == nullptr) {
      simd::to_float(query.tensor->dtype())(element_at(query, offset), to, a_.width);
    } else {
      const int64_t vector = offset / a_.width;
      simd::dequantize(query.tensor->unchecked_data<int8_t>() + offset, query.zero_points[vector],
                       query.scales[vector], to, a_.width);
    }
    for (int64_t d = 0; d < a_.width; ++d) to[d] *= a_.scale;
  }

  // Loads and scales the queries of a work item: as columns of one matrix per key head for matrix
  // products, otherwise as rows. `one` is a buffer for one query.
  void load_queries(const QueryBlock& at, float* to, float* one) const {
    std::fill_n(to, rows_ * p_.stride, 0.0F);
    for (int64_t head = at.head; head < at.head + p_.heads; ++head) {
      for (int64_t r = 0; r < rows_of_head(at); ++r) {
        const int64_t offset = query_offset(at, head, r);
        if (!p_.as_matrices) {
          load_query(offset, to + row(at, head, r) * p_.stride);
          continue;
        }
        load_query(offset, one);
        float* const column = to + row(at, head, 0) * p_.stride + r;
        for (int64_t d = 0; d < a_.width; ++d) column[d * p_.head_rows] = one[d];
      }
    }
  }

  simd::CacheRows cache_rows(const Rows& rows, const QueryBlock& at, int64_t head, int64_t first,
                             int64_t count) const {
    const int64_t offset = rows.offset(at.batch, first, head);
    const int64_t vector = offset / a_.width;
    const bool quantized = rows.scales != nullptr;
    return {rows.tensor->dtype(),
            element_at(rows, offset),
            rows.token_stride,
            count,
            a_.width,
            quantized ? rows.scales + vector : nullptr,
            quantized ? rows.zero_points + vector : nullptr,
            rows.token_stride / a_.width};
  }

  // Returns `rows`, converted to float in `to` if widens_ is true.
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

  // Number of keys in [first, first + count) to which row r attends.
  int64_t visible_keys(const QueryBlock& at, int64_t r, int64_t first, int64_t count) const {
    return std::clamp<int64_t>(a_.keys_of(at.token + r / a_.group()) - first, 0, count);
  }
  const float* mask_of(const QueryBlock& at, int64_t r, int64_t first) const {
    return a_.mask == nullptr ? nullptr : a_.mask + (at.token + r / a_.group()) * a_.keys + first;
  }

  // Scaling column n of the scores is cheaper than scaling the elements of cache row n.
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

  // Weighs the keys [first, first + count) for the query rows of one key head, and adds their
  // weighted values to the sums.
  void add_block(const QueryBlock& at, int64_t head, int64_t first, int64_t count,
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
                      visible_keys(at, r, first, count), count, sums.softmax[start + r]);
    }
    const simd::CacheRows values =
        widened(cache_rows(a_.value, at, head, first, count), scratch.block);
    apply_scales(values, scores);
    simd::add_values(scores, values, scratch.factors,
                     {sums.values + start * p_.stride, p_.stride, rows});
  }

  // Like add_block(), but with matrix products.
  void multiply_block(const QueryBlock& at, int64_t head, int64_t first, int64_t count,
                      const Scratch& scratch, const Sums& sums) const {
    const int64_t rows = p_.head_rows;
    const int64_t start = row(at, head, 0);
    multiply_keys_by_queries(widened(cache_rows(a_.key, at, head, first, count), scratch.block),
                             scratch.queries + start * p_.stride, rows, scratch.scores);
    for (int64_t r = 0; r < rows; ++r) {
      const bool is_used = r < rows_of_head(at);  // other rows only pad the matrix
      scratch.visible[r] = static_cast<float>(is_used ? visible_keys(at, r, first, count) : count);
      const float* const mask = is_used ? mask_of(at, r, first) : nullptr;
      for (int64_t n = 0; mask != nullptr && n < count; ++n) {
        scratch.scores[n * rows + r] += mask[n];
      }
    }
    simd::weigh_columns(scratch.scores, rows, count, scratch.visible, sums.softmax + start,
                        scratch.factors);
    add_values_by_weights(widened(cache_rows(a_.value, at, head, first, count), scratch.block),
                          scratch.scores, rows, scratch.factors,
                          {sums.values + start * p_.stride, p_.stride, rows_of_head(at)});
  }

  void run_item(int64_t item, const Scratch& scratch, const Sums& sums) const {
    const QueryBlock at = query_block(item);
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
        if (p_.as_matrices) {
          multiply_block(at, head, first, count, scratch, sums);
        } else {
          add_block(at, head, first, count, scratch, sums);
        }
      }
    }
    if (p_.key_parts == 1) store(at, sums);
  }

  // Merges the results of all parts of the keys and stores the result of query block i.
  void merge(int64_t i) const {
    const int64_t first = i * p_.key_parts;
    const Sums merged = part(first);
    for (int64_t r = 0; r < rows_; ++r) {
      float largest = merged.softmax[r].largest;
      for (int64_t k = 1; k < p_.key_parts; ++k) {
        largest = std::max(largest, part(first + k).softmax[r].largest);
      }
      // If all keys are masked, -infinity - `largest` would be NaN. With 0, the factors are
      // exp(-infinity) = 0.
      if (largest == -std::numeric_limits<float>::infinity()) largest = 0;
      float total = 0;
      float* const to = merged.values + r * p_.stride;
      for (int64_t k = 0; k < p_.key_parts; ++k) {
        const Sums from = part(first + k);
        const float factor = std::exp(from.softmax[r].largest - largest);
        total += from.softmax[r].total * factor;
        const float* const values = from.values + r * p_.stride;
        for (int64_t d = 0; d < a_.width; ++d) {
          to[d] = values[d] * factor + (k == 0 ? 0.0F : to[d]);
        }
      }
      merged.softmax[r].total = total;
    }
    store(query_block(first), merged);
  }

  void store(const QueryBlock& at, const Sums& sums) const {
    Tensor& out = *a_.out;
    const simd::Convert convert = simd::from_float(out.dtype());
    const auto size = static_cast<int64_t>(out.element_size());
    for (int64_t head = at.head; head < at.head + p_.heads; ++head) {
      for (int64_t r = 0; r < rows_of_head(at); ++r) {
        float* const values = sums.values + row(at, head, r) * p_.stride;
        // A row that attends to no key has the total 0, so its results are 0 * infinity = NaN.
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
