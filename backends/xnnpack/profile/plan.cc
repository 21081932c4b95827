#include "backends/xnnpack/profile/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "backends/xnnpack/format/identifiers.h"
#include "inspector/join/profile.h"

namespace vitrine::xnnpack {
namespace {

using inspector::DelegatePlan;
using inspector::InspectorError;

constexpr std::string_view kMeasured = kMeasuredPlan;
constexpr std::string_view kDerived = kDerivedPlan;
constexpr std::string_view kWhyDerived =
    "XNNPACK gave durations only, in whole microseconds: start times within a delegate are derived";

class PlanParser {
 public:
  explicit PlanParser(std::string_view text) : rest_(text) {}

  DelegatePlan parse() {
    const std::string_view header = next_line();
    if (header != kMeasured && header != kDerived) {
      fail(fmt::format("is not \"{}\" or \"{}\"", kMeasured, kDerived));
    }
    if (header == kDerived) plan_.derived_times = kWhyDerived;
    while (!rest_.empty()) plan_.nodes.push_back(node(next_line()));
    check_references();
    return std::move(plan_);
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw InspectorError(fmt::format("{}: line {}: {}", kPlanEvent, line_, what));
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

  DelegatePlan::Node node(std::string_view line) const {
    if (number(next_word(line)) != plan_.nodes.size()) fail("is not the next node's");
    DelegatePlan::Node node;
    node.type = next_word(line);
    node.debug_handle = number(next_word(line));
    const std::string_view place = next_word(line);
    if (place.starts_with("op=") || place.starts_with("in=")) {
      node.place =
          place.starts_with("op=") ? DelegatePlan::Place::kOperator : DelegatePlan::Place::kFused;
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
    for (const DelegatePlan::Node& node : plan_.nodes) {
      if (node.serves.value_or(0) >= plan_.nodes.size()) {
        throw InspectorError(
            fmt::format("{}: node {} is served but is not there", kPlanEvent, *node.serves));
      }
      if (node.place == DelegatePlan::Place::kElided) continue;
      plan_.num_operators = std::max(plan_.num_operators, node.op + 1);
      if (node.place == DelegatePlan::Place::kOperator && !has_node.insert(node.op).second) {
        throw InspectorError(fmt::format("{}: operator {} has two nodes", kPlanEvent, node.op));
      }
    }
  }

  std::string_view rest_;
  size_t line_ = 0;
  DelegatePlan plan_;
};

}  // namespace

DelegatePlan parse_plan(std::string_view text) { return PlanParser(text).parse(); }

}  // namespace vitrine::xnnpack
