// The part of Python's pickle format that data without code needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace vitrine {

// Nodes refer to each other by position and may be shared, even in cycles: whoever walks them
// bounds the walk.
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
    kPersist,  // items[0]: what names an object outside of the pickle
    kCall,     // items: a global and its arguments as a list; not called
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

// Protocol 2, as torch.save writes it, and what later ones add for plain data. A FormatError
// says at which byte of `place` it is something else.
Pickle parse_pickle(std::string_view bytes, const std::string& place);

}  // namespace vitrine
