#include "backends/profiles/xnnpack_operator_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "backends/xnnpack/runtime/reader/identifiers.h"
#include "inspector/join/profile.h"

namespace vitrine::xnnpack {
namespace {

using inspector::InspectorError;
using inspector::OperatorMap;

constexpr std::string_view kMeasured = kMeasuredMapHeader;
constexpr std::string_view kDerived = kDerivedMapHeader;
constexpr std::string_view kWhyDerived =
    "XNNPACK reported only durations, in whole microseconds: start times within a delegate are "
    "derived";

class OperatorMapParser {
 public:
  explicit OperatorMapParser(std::string_view text) : rest_(text) {}

  OperatorMap parse() {
    const std::string_view header = next_line();
    if (header != kMeasured && header != kDerived) {
      fail(fmt::format("is not \"{}\" or \"{}\"", kMeasured, kDerived));
    }
    if (header == kDerived) map_.derived_times = kWhyDerived;
    while (!rest_.empty()) map_.nodes.push_back(node(next_line()));
    check_references();
    return std::move(map_);
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw InspectorError(fmt::format("{}: line {}: {}", kOperatorMapEvent, line_, what));
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

  OperatorMap::Node node(std::string_view line) const {
    if (number(next_word(line)) != map_.nodes.size())
      fail(fmt::format("expected node {}", map_.nodes.size()));
    OperatorMap::Node node;
    node.type = next_word(line);
    node.debug_handle = number(next_word(line));
    const std::string_view place = next_word(line);
    if (place.starts_with("op=") || place.starts_with("in=")) {
      node.role =
          place.starts_with("op=") ? OperatorMap::Role::kOperator : OperatorMap::Role::kFused;
      node.op = number(place.substr(3));
    } else if (place != "none") {
      fail(fmt::format("\"{}\" is not op=, in= or none", place));
    }
    if (const std::string_view serves = next_word(line); serves != "-") {
      node.serves = number(serves);
    }
    if (!line.empty()) fail("has more than 5 words");
    return node;
  }

  void check_references() {
    std::set<size_t> has_node;
    for (const OperatorMap::Node& node : map_.nodes) {
      if (node.serves.value_or(0) >= map_.nodes.size()) {
        throw InspectorError(fmt::format("{}: a layout change names node {}, which does not exist",
                                         kOperatorMapEvent, *node.serves));
      }
      if (node.role == OperatorMap::Role::kElided) continue;
      map_.num_operators = std::max(map_.num_operators, node.op + 1);
      if (node.role == OperatorMap::Role::kOperator && !has_node.insert(node.op).second) {
        throw InspectorError(
            fmt::format("{}: operator {} has two nodes", kOperatorMapEvent, node.op));
      }
    }
  }

  std::string_view rest_;
  size_t line_ = 0;
  OperatorMap map_;
};

}  // namespace

OperatorMap parse_operator_map(std::string_view text) { return OperatorMapParser(text).parse(); }

}  // namespace vitrine::xnnpack
