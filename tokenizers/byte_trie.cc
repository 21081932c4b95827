#include "tokenizers/byte_trie.h"

namespace vitrine {
namespace {

// The sorted entries that begin with the string of a node.
struct EntryRange {
  size_t begin;
  size_t end;
};

}  // namespace

ByteTrie::ByteTrie(std::vector<Entry> entries) {
  std::erase_if(entries, [](const Entry& entry) { return entry.text.empty(); });
  std::ranges::stable_sort(entries, {}, &Entry::text);
  const auto same_text = [](const Entry& a, const Entry& b) { return a.text == b.text; };
  entries.erase(std::unique(entries.begin(), entries.end(), same_text), entries.end());

  bytes_ = {0};
  values_ = {kNoValue};
  std::vector<EntryRange> level = {{0, entries.size()}};
  for (size_t depth = 0; !level.empty(); ++depth) {
    std::vector<EntryRange> next;
    for (auto [begin, end] : level) {
      first_children_.push_back(static_cast<Node>(values_.size()));
      if (begin < end && entries[begin].text.size() == depth) ++begin;
      while (begin < end) {
        const char byte = entries[begin].text[depth];
        size_t stop = begin + 1;
        while (stop < end && entries[stop].text[depth] == byte) ++stop;
        const bool is_whole = entries[begin].text.size() == depth + 1;
        bytes_.push_back(static_cast<uint8_t>(byte));
        values_.push_back(is_whole ? entries[begin].value : kNoValue);
        next.push_back({begin, stop});
        begin = stop;
      }
    }
    level = std::move(next);
  }
  first_children_.push_back(static_cast<Node>(values_.size()));
  for (Node node = first_child(kRoot); node < end_of_children(kRoot); ++node) {
    root_children_[byte(node)] = node;
  }
}

}  // namespace vitrine
