// The part of Python's pickle format that plain data, without code, needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace vitrine {

// Nodes refer to each other by position. They may be shared, even in cycles, so callers must bound
// their walks.
struct PickleNode {
  enum class Kind : uint8_t {
    kMark,
    kNone,
    kBool,     // number
    kInt,      // number
    kReal,     // real
    kText,     // text
    kList,     // items; tuples too
    kDict,     // items: key, value, key, value ...
    kGlobal,   // text: "module name"
    kPersist,  // items[0]: the name of an object outside the pickle
    kCall,     // items: a global and its arguments as a list; not called, nor an object made
  };
  Kind kind = Kind::kNone;
  int64_t number = 0;
  double real = 0;
  std::string text = {};
  std::vector<size_t> items = {};
};

struct Pickle {
  std::deque<PickleNode> nodes;
  size_t root = 0;
};

// Reads protocol 2, as torch.save writes it, and additions of later protocols for plain data.
// FormatErrors name the byte of `place`.
Pickle parse_pickle(std::string_view bytes, const std::string& place);

}  // namespace vitrine
