// Reads the rules for includes between rooms from docs/architecture.md. A room is a folder with a
// row in that page's table of rooms.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace vitrine::architecture {

struct Room {
  std::string folder;
  // Each entry is a folder that is a room or contains rooms. This room may include these rooms and
  // all rooms that they may include. The entry "" means every room.
  std::vector<std::string> may_include;
  std::vector<std::string> public_headers;  // "vitrine/tensor.h"
  bool is_device = false;                   // no exceptions, no iostream
};

const std::vector<Room>& rooms();

// Returns the innermost room that contains `path` (relative to the root of the tree); null if none
// does.
const Room* room_of(std::string_view path);

// True if a file of room `from` may include a file of room `to`.
bool may_include(const Room& from, const Room& to);

// Returns the headers that a source file includes, with the opening quote: "<xnnpack.h" or
// "\"base/json.h".
std::vector<std::string_view> includes_of(std::string_view source);

// The table of libraries lists the folders that may include each library. Returns the entries that
// no source file uses, such as "`xnnpack` in bench". `sources` maps paths to texts.
std::vector<std::string> unused_permissions(const std::map<std::string, std::string>& sources);

// Returns a line, "path: includes ...", for each include that violates a rule. `source` is the text
// of the file `path`.
std::vector<std::string> violations(std::string_view path, std::string_view source);

}  // namespace vitrine::architecture
