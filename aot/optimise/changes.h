// What optimisations did to a method, for reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

// One kind of change.
struct Change {
  std::string what;    // "copies that became views"
  size_t count = 0;    // how often
  uint64_t calls = 0;  // that a run no longer makes
  uint64_t bytes = 0;  // that these calls would have read and written, by their shapes
};

// In order of first appearance.
class Changes {
 public:
  explicit Changes(const RangeConstraints& ranges) : ranges_(ranges) {}

  // A call that goes, or costs nothing from now on.
  void remove(std::string_view what, const Node& call);
  // A change that removes so many calls. They may be none.
  void add(std::string_view what, size_t count, uint64_t calls = 0, uint64_t bytes = 0);

  const std::vector<Change>& all() const { return changes_; }

 private:
  RangeConstraints ranges_;
  std::vector<Change> changes_;
};

// A line for each: "12 x copy that became a view [12 calls, 3.5 KiB less]".
std::string format_changes(const std::vector<Change>& changes);

}  // namespace vitrine::aot
