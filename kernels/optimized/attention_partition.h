// How attention is shared out among threads: attention.cc says what an item of work is.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/llm/attention.h"
#include "kernels/optimized/simd/attention.h"
#include "kernels/util/parallel.h"

namespace vitrine::optimized {

inline constexpr int64_t kKeyBlock = 128;
inline constexpr int64_t kQueryRows = 64;       // about as many of one head of keys in a block
inline constexpr int64_t kRowsOfProducts = 16;  // from so many on, they are multiplied as matrices

// How the work is divided.
struct Partition {
  int64_t tokens;  // queries of a block
  int64_t token_blocks;
  int64_t heads;  // of keys, in an item
  int64_t head_blocks;
  int64_t key_parts;
  int64_t stride;     // of rows of floats: the width, padded
  bool by_products;   // whether blocks are multiplied as matrices
  int64_t head_rows;  // of queries of a head of keys, in memory

  int64_t items(const llm::Attention& a) const {
    return a.batches * token_blocks * head_blocks * key_parts;
  }
  // Rows of floats that an item computes.
  int64_t rows() const { return heads * head_rows; }
};

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

inline int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

// What an item is.
inline void share_out(int64_t workers, const llm::Attention& a, Partition& result) {
  const int64_t most_parts = std::max<int64_t>(1, a.keys / kKeyBlock);
  const int64_t wanted = workers == 1 ? 1 : 4 * workers;  // some slack for slower cores
  if (result.token_blocks == 1 && most_parts >= std::min(wanted, 2 * workers)) {
    result.heads = a.key_heads;
    result.head_blocks = 1;
    result.key_parts = std::min(most_parts, ceil_div(wanted, a.batches));
    return;
  }
  result.heads = 1;
  result.head_blocks = a.key_heads;
  const int64_t items = a.batches * result.token_blocks * a.key_heads;
  result.key_parts = workers == 1 ? 1 : std::min(most_parts, ceil_div(wanted / 2, items));
}

inline Partition partition(const KernelContext& context, const llm::Attention& a) {
  const int64_t lanes = simd::attention_lanes();
  Partition result{};
  result.stride = round_up(a.width, lanes);
  result.tokens = std::min(a.tokens, std::max<int64_t>(1, kQueryRows / a.group()));
  result.token_blocks = ceil_div(a.tokens, result.tokens);
  const int64_t rows = result.tokens * a.group();
  result.by_products = rows >= std::max(kRowsOfProducts, lanes);
  result.head_rows = result.by_products ? round_up(rows, lanes) : rows;
  share_out(worker_count(context), a, result);
  return result;
}

}  // namespace vitrine::optimized
