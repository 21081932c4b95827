#include "aot/pipeline/dynamic_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "aot/graph/aot_error.h"

namespace vitrine::aot {
namespace {

std::optional<int64_t> parse_number(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

// Calls visit("x.0", size) for each dynamic size of the user's inputs.
template <class Visit>
void for_each_input_size(const ExportedProgram& program, Visit visit) {
  for (const InputSpec& spec : program.signature.inputs) {
    const Node* node = program.graph->find(spec.name);
    if (spec.kind != InputSpec::Kind::kUserInput || node == nullptr || node->tensor() == nullptr) {
      continue;
    }
    for (size_t i = 0; i < node->tensor()->sizes.size(); ++i) {
      visit(fmt::format("{}.{}", spec.name, i), node->tensor()->sizes[i]);
    }
  }
}

// Returns the symbol of a size. `name` is the symbol itself ("s0"), or an input and a dim ("x.0").
// The result is empty if the program does not have this size.
std::string symbol_of(const std::string& name, const ExportedProgram& program) {
  if (program.range_constraints.contains(name)) return name;
  std::string symbol;
  for_each_input_size(program, [&](const std::string& input, const SymInt& size) {
    if (input != name) return;
    if (size.is_static()) {
      throw AotError(fmt::format("bounds of {}: this size is always {}", name, size.value()));
    }
    if (size.expression().kind() != Expression::Kind::kSymbol) {
      throw AotError(
          fmt::format("bounds of {}: this size is the expression {}; set the bounds of its symbols",
                      name, to_text(size)));
    }
    symbol = size.expression().name();
  });
  return symbol;
}

std::string text_of(const Range& range) {
  return fmt::format("{} to {}", range.min ? std::to_string(*range.min) : "any",
                     range.max ? std::to_string(*range.max) : "any");
}

}  // namespace

DynamicBound parse_dynamic_bound(const std::string& text) {
  const size_t equals = text.rfind('=');
  const size_t colon = equals == std::string::npos ? equals : text.find(':', equals);
  DynamicBound bound;
  if (colon != std::string::npos && equals != 0) {
    const std::string_view all = text;
    const auto min = parse_number(all.substr(equals + 1, colon - equals - 1));
    const auto max = parse_number(all.substr(colon + 1));
    if (min && max && *min <= *max) return {text.substr(0, equals), *min, *max};
  }
  throw AotError(fmt::format("--dynamic {}: expected NAME=MIN:MAX, such as x.0=1:8", text));
}

DynamicBound parse_max_size(const std::string& text) {
  const size_t equals = text.rfind('=');
  if (equals != std::string::npos && equals != 0) {
    const auto max = parse_number(std::string_view(text).substr(equals + 1));
    if (max) return {text.substr(0, equals), std::nullopt, *max};
  }
  throw AotError(fmt::format("--max-size {}: expected NAME=N, for example x.0=8", text));
}

bool apply(const DynamicBound& bound, ExportedProgram& program) {
  const std::string symbol = symbol_of(bound.name, program);
  if (symbol.empty()) return false;
  Range& range = program.range_constraints[symbol];
  const Range narrowed{bound.min ? bound.min : range.min, bound.max};
  const bool is_wider =
      (range.min && *narrowed.min < *range.min) || (range.max && bound.max > *range.max);
  if (is_wider || (narrowed.min && *narrowed.min > bound.max)) {
    throw AotError(fmt::format("bounds of {}: {} is not within the bounds of the export, {}",
                               bound.name, text_of(narrowed), text_of(range)));
  }
  range = narrowed;
  return true;
}

std::vector<std::string> set_missing_bounds(ExportedProgram& program) {
  std::vector<std::string> notes;
  for_each_input_size(program, [&](const std::string& input, const SymInt& size) {
    if (size.is_static() || size.expression().kind() != Expression::Kind::kSymbol) return;
    Range& range = program.range_constraints[size.expression().name()];
    // Some versions of torch write a number close to 2^63 to say that a size is unbounded.
    if (range.max && *range.max <= std::numeric_limits<int32_t>::max()) return;
    range.max = std::max(kDefaultMaxSize, range.min.value_or(0));
    notes.push_back(
        fmt::format("{} was exported without a maximum: assuming at most {}; set it "
                    "with --max-size {}=N",
                    input, *range.max, input));
  });
  return notes;
}

std::string describe_dynamic_sizes(const ExportedProgram& program) {
  std::string text;
  for (const auto& [symbol, range] : program.range_constraints) {
    std::string inputs;
    for_each_input_size(program, [&, &name = symbol](const std::string& input, const SymInt& size) {
      if (size.is_static() || to_text(size) != name) return;
      inputs += inputs.empty() ? " (" : ", ";
      inputs += input;
    });
    if (!inputs.empty()) inputs += ')';
    if (!text.empty()) text += "; ";
    text += fmt::format("{}{}: {}", symbol, inputs, text_of(range));
  }
  return text;
}

}  // namespace vitrine::aot
