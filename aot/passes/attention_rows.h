// Where the keys and values of attention come from.
#pragma once

#include "aot/graph/node.h"

namespace vitrine::aot {

// Operands of attention are [batch, head, position, value].
constexpr int kBatch = 0;
constexpr int kHead = 1;
constexpr int kPosition = 2;
constexpr int kValue = 3;
constexpr size_t kAttentionRank = 4;

struct AttentionRows {
  Node* source = nullptr;
  const Node* taken = nullptr;   // the first call that takes them from there; null: none
  const Node* prefix = nullptr;  // takes the first positions of the source; null: all are taken
  bool is_transposed = false;    // heads and positions
  bool is_repeated = false;      // each head for neighbouring query heads
};

// Keys or values, back through views and copies.
AttentionRows trace_rows(Node* node);
// Whether the source still has, at the call, the values that were taken from it.
bool are_unchanged(const AttentionRows& rows, const Node& call);

}  // namespace vitrine::aot
