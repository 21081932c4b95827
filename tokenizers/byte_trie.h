// A trie of strings. It finds all of its strings that are prefixes of a text.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizers/text_budget.h"
#include "vitrine/tokenizer.h"

namespace vitrine {

// Immutable. Nodes are numbered level by level. The children of a node have consecutive numbers and
// are sorted by byte.
class ByteTrie {
 public:
  using Node = uint32_t;
  static constexpr Node kRoot = 0;
  static constexpr Node kNoNode = 0;  // marks an absent child
  static constexpr TokenId kNoValue = -1;

  struct Entry {
    std::string_view text;
    TokenId value;  // not negative
  };
  // Builds the trie. Ignores empty strings. The first of several equal strings wins.
  explicit ByteTrie(std::vector<Entry> entries = {});

  size_t size() const { return values_.size(); }  // number of nodes
  TokenId value(Node node) const { return values_[node]; }
  uint8_t byte(Node node) const { return bytes_[node]; }  // the byte from the parent to the node
  Node first_child(Node node) const { return first_children_[node]; }
  Node end_of_children(Node node) const { return first_children_[node + size_t{1}]; }

  Node child(Node node, uint8_t byte) const {
    if (node == kRoot) return root_children_[byte];
    const auto begin = bytes_.begin() + first_child(node);
    const auto end = bytes_.begin() + end_of_children(node);
    const auto found = std::lower_bound(begin, end, byte);
    return found == end || *found != byte ? kNoNode : static_cast<Node>(found - bytes_.begin());
  }

  // Calls visit(value, size) for each string that is a prefix of `text`, shortest first.
  template <class Visit>
  void each_prefix(std::string_view text, TextBudget& budget, Visit visit) const {
    Node node = kRoot;
    size_t size = 0;
    while (size < text.size()) {
      node = child(node, static_cast<uint8_t>(text[size]));
      if (node == kNoNode) break;
      ++size;
      if (value(node) != kNoValue) visit(value(node), size);
    }
    budget.take_steps(size + 1);
  }

  struct Prefix {
    TokenId value = kNoValue;
    size_t size = 0;
  };
  // Returns the longest string that is a prefix of `text`.
  Prefix longest_prefix(std::string_view text, TextBudget& budget) const {
    Prefix longest;
    each_prefix(text, budget, [&](TokenId value, size_t size) { longest = {value, size}; });
    return longest;
  }

 private:
  std::vector<uint8_t> bytes_;        // indexed by node
  std::vector<TokenId> values_;       // indexed by node
  std::vector<Node> first_children_;  // indexed by node; the last element is the number of nodes
  std::array<Node, 256> root_children_ = {};
};

}  // namespace vitrine
