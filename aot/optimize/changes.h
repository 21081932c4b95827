// Lists the changes that optimizations made to a method, for reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

// A kind of change, and the totals of all changes of this kind.
struct Change {
  std::string what;    // "copy replaced by a view"
  size_t count = 0;    // number of such changes
  uint64_t calls = 0;  // calls that an execution no longer makes
  uint64_t bytes = 0;  // bytes that these calls would read and write, estimated from their shapes
};

// Collects changes. Kinds of changes are in order of first appearance.
class Changes {
 public:
  explicit Changes(const RangeConstraints& ranges) : ranges_(ranges) {}

  // Records that a call was removed, or replaced by a call that does not run code.
  void remove(std::string_view what, const Node& call);
  // Records `count` changes that remove `calls` calls, with `bytes` bytes in all.
  void add(std::string_view what, size_t count, uint64_t calls = 0, uint64_t bytes = 0);

  const std::vector<Change>& all() const { return changes_; }

 private:
  RangeConstraints ranges_;
  std::vector<Change> changes_;
};

// Returns a line for each kind of change: "12 x copy replaced by a view [12 fewer calls, 3.5 KiB]".
std::string format_changes(const std::vector<Change>& changes);

}  // namespace vitrine::aot
