// Reads the part of Python's pickle format that stores plain data. Never runs code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace vitrine {

// Nodes refer to each other by their index in Pickle::nodes. Nodes can be shared and form cycles,
// so callers must bound their walks.
struct PickleNode {
  enum class Kind : uint8_t {
    kMark,
    kNone,
    kBool,     // number
    kInt,      // number
    kReal,     // real
    kText,     // text
    kList,     // items; also for tuples
    kDict,     // items: key, value, key, value ...
    kGlobal,   // text: "module name"
    kPersist,  // items[0]: the name of an object outside the pickle
    kCall,     // items: a global, and its arguments as a list; the reader does not call it
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

// Reads pickles of protocol 2, which torch.save writes, and the plain data of protocols 3 to 5. A
// FormatError names `source` and the byte offset of the opcode.
Pickle parse_pickle(std::string_view bytes, const std::string& source);

}  // namespace vitrine
