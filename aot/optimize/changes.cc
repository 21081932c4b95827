#include "aot/optimize/changes.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/lowering/node_cost.h"

namespace vitrine::aot {

void Changes::remove(std::string_view what, const Node& call) {
  add(what, 1, 1, delegation::cost_of(call, ranges_).bytes);
}

void Changes::add(std::string_view what, size_t count, uint64_t calls, uint64_t bytes) {
  if (count == 0) return;
  auto found = std::ranges::find(changes_, what, &Change::what);
  if (found == changes_.end()) {
    found = changes_.insert(found, Change{std::string(what), 0, 0, 0});
  }
  found->count += count;
  found->calls += calls;
  found->bytes += bytes;
}

std::string format_changes(const std::vector<Change>& changes) {
  std::string text;
  for (const Change& change : changes) {
    text += fmt::format("{} x {}", change.count, change.what);
    if (change.calls != 0) {
      text += fmt::format(" [{} fewer call{}", change.calls, change.calls == 1 ? "" : "s");
      if (change.bytes != 0) text += fmt::format(", {}", delegation::bytes_text(change.bytes));
      text += ']';
    }
    text += '\n';
  }
  return text;
}

}  // namespace vitrine::aot
