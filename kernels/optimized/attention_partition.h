// Divides attention into work items. attention.cc describes the two kinds of items.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/llm/attention.h"
#include "kernels/optimized/simd/attention.h"
#include "kernels/util/parallel.h"

namespace vitrine::optimized {

inline constexpr int64_t kKeyBlock = 128;
inline constexpr int64_t kQueryRows = 64;  // approximate number of query rows in a block
inline constexpr int64_t kMinMatrixRows =
    16;  // blocks of fewer query rows are multiplied row by row

struct Partition {
  int64_t tokens;  // tokens in a block of queries
  int64_t token_blocks;
  int64_t heads;  // key heads in an item
  int64_t head_blocks;
  int64_t key_parts;
  int64_t stride;  // floats from row to row: the width, padded to full vectors
  bool as_matrices;
  int64_t head_rows;  // query rows of a key head, padded to full vectors if as_matrices

  int64_t items(const llm::Attention& a) const {
    return a.batches * token_blocks * head_blocks * key_parts;
  }
  int64_t rows() const { return heads * head_rows; }
};

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

inline int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

// Chooses the number of key heads per work item and the number of parts of the keys.
inline void divide_work(int64_t workers, const llm::Attention& a, Partition& result) {
  const int64_t max_parts = std::max<int64_t>(1, a.keys / kKeyBlock);
  const int64_t wanted = workers == 1 ? 1 : 4 * workers;  // lets faster cores take more items
  if (result.token_blocks == 1 && max_parts >= std::min(wanted, 2 * workers)) {
    result.heads = a.key_heads;
    result.head_blocks = 1;
    result.key_parts = std::min(max_parts, ceil_div(wanted, a.batches));
    return;
  }
  result.heads = 1;
  result.head_blocks = a.key_heads;
  const int64_t items = a.batches * result.token_blocks * a.key_heads;
  result.key_parts = workers == 1 ? 1 : std::min(max_parts, ceil_div(wanted / 2, items));
}

inline int64_t attention_work(const llm::Attention& a) {
  return work_of({4, a.batches * a.query_heads * a.tokens, a.keys, a.width});
}

inline Partition partition(const KernelContext& context, const llm::Attention& a) {
  const int64_t lanes = simd::attention_lanes();
  Partition result{};
  result.stride = round_up(a.width, lanes);
  result.tokens = std::min(a.tokens, std::max<int64_t>(1, kQueryRows / a.group()));
  result.token_blocks = ceil_div(a.tokens, result.tokens);
  const int64_t rows = result.tokens * a.group();
  result.as_matrices = rows >= std::max(kMinMatrixRows, lanes);
  result.head_rows = result.as_matrices ? round_up(rows, lanes) : rows;
  divide_work(worker_count(context, attention_work(a)), a, result);
  return result;
}

}  // namespace vitrine::optimized
