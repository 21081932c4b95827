// Who may include whom: the rooms of docs/architecture.md and the arrows between them, read from
// its tables.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace vitrine::architecture {

struct Room {
  std::string folder;
  // Rooms or folders of rooms. This room may include what they may include. "" is everything.
  std::vector<std::string> may_include;
  std::vector<std::string> public_headers;  // "vitrine/tensor.h"
  bool is_device = false;                   // no exceptions, no iostream
};

const std::vector<Room>& rooms();

// The innermost room that contains `path` (relative to the root of the tree); null if none does.
const Room* room_of(std::string_view path);

// Whether a file of room `from` may include one of room `to`.
bool may_include(const Room& from, const Room& to);

// The headers that a source file includes, as it writes them: "<xnnpack.h" or "\"base/json.h".
std::vector<std::string_view> includes_of(std::string_view source);

// What the table of libraries allows and no file needs: "`xnnpack` in bench".
std::vector<std::string> unused_permissions(const std::map<std::string, std::string>& sources);

// One line for each include of the source file at `path` that breaks a rule: "path: includes ...".
std::vector<std::string> violations(std::string_view path, std::string_view source);

}  // namespace vitrine::architecture
