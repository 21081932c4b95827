#include "inspector/join/xnnpack_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string>

#include "inspector/join/profile.h"

namespace vitrine::inspector {
namespace {

constexpr std::string_view kMeasured = "xnnpack-plan 1 measured";
constexpr std::string_view kDerived = "xnnpack-plan 1 derived";

class PlanParser {
 public:
  explicit PlanParser(std::string_view text) : rest_(text) {}

  XnnpackPlan parse() {
    const std::string_view header = next_line();
    if (header != kMeasured && header != kDerived) {
      fail(fmt::format("is not \"{}\" or \"{}\"", kMeasured, kDerived));
    }
    plan_.derived_times = header == kDerived;
    while (!rest_.empty()) plan_.nodes.push_back(node(next_line()));
    check_references();
    return std::move(plan_);
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw InspectorError(fmt::format("xnnpack.plan: line {}: {}", line_, what));
  }

  std::string_view next_line() {
    ++line_;
    const size_t end = rest_.find('\n');
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    return line;
  }

  std::string_view next_word(std::string_view& line) const {
    const size_t end = line.find(' ');
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
    if (word.empty()) fail("has fewer than 5 words");
    return word;
  }

  uint32_t number(std::string_view word) const {
    uint32_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) {
      fail(fmt::format("\"{}\" is not a number", word));
    }
    return value;
  }

  XnnpackPlan::Node node(std::string_view line) const {
    if (number(next_word(line)) != plan_.nodes.size()) fail("is not the next node's");
    XnnpackPlan::Node node;
    node.type = next_word(line);
    node.debug_handle = number(next_word(line));
    const std::string_view place = next_word(line);
    if (place.starts_with("op=") || place.starts_with("in=")) {
      node.place =
          place.starts_with("op=") ? XnnpackPlan::Place::kOperator : XnnpackPlan::Place::kFused;
      node.op = number(place.substr(3));
    } else if (place != "none") {
      fail(fmt::format("\"{}\" is none of op=, in=, none", place));
    }
    if (const std::string_view serves = next_word(line); serves != "-") {
      node.serves = number(serves);
    }
    if (!line.empty()) fail("has more than 5 words");
    return node;
  }

  void check_references() {
    std::set<size_t> has_node;
    for (const XnnpackPlan::Node& node : plan_.nodes) {
      if (node.serves.value_or(0) >= plan_.nodes.size()) {
        throw InspectorError(
            fmt::format("xnnpack.plan: node {} is served but is not there", *node.serves));
      }
      if (node.place == XnnpackPlan::Place::kElided) continue;
      plan_.num_operators = std::max(plan_.num_operators, node.op + 1);
      if (node.place == XnnpackPlan::Place::kOperator && !has_node.insert(node.op).second) {
        throw InspectorError(fmt::format("xnnpack.plan: operator {} has two nodes", node.op));
      }
    }
  }

  std::string_view rest_;
  size_t line_ = 0;
  XnnpackPlan plan_;
};

}  // namespace

XnnpackPlan parse_xnnpack_plan(std::string_view text) { return PlanParser(text).parse(); }

}  // namespace vitrine::inspector
