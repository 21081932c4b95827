// Finds the tensor from which the keys or values of attention are read.
#pragma once

#include "aot/graph/node.h"

namespace vitrine::aot {

// The dims of queries, keys and values: [batch, head, position, element of the vector].
constexpr int kBatch = 0;
constexpr int kHead = 1;
constexpr int kPosition = 2;
constexpr int kValue = 3;
constexpr size_t kAttentionRank = 4;

struct AttentionRows {
  Node* source = nullptr;
  const Node* first_reader = nullptr;  // the first call that reads the source; null: none
  const Node* prefix = nullptr;  // the slice of the source's first positions; null: all are read
  bool is_transposed = false;    // heads and positions are exchanged
  bool is_repeated = false;      // each head is repeated for consecutive query heads
};

// Traces keys or values back, through views and copies, to the tensor from which they are read.
AttentionRows trace_rows(Node* node);
// True if no call between `rows.first_reader` and `call` may write, or if first_reader is null.
bool are_unchanged(const AttentionRows& rows, const Node& call);

}  // namespace vitrine::aot
