// Who may include whom: the rooms of docs/architecture.md and the arrows between them, read from
// its tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vitrine::architecture {

struct Room {
  std::string folder;
  // Folders that hold rooms, or rooms. What one of these may include, this room may too. "" is
  // everything.
  std::vector<std::string> may_include;
  std::vector<std::string> public_headers;  // "vitrine/tensor.h"
  bool is_device = false;                   // no exceptions, no iostream
};

const std::vector<Room>& rooms();

// The innermost room that `path` (from the root of the tree) lies in; null if it lies in none.
const Room* room_of(std::string_view path);

// Whether a file of room `from` may include one of room `to`.
bool may_include(const Room& from, const Room& to);

// One line for each include of the source file at `path` that breaks a rule: "path: includes ...".
std::vector<std::string> violations(std::string_view path, std::string_view source);

}  // namespace vitrine::architecture
