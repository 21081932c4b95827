#include "aot/pipeline/quantisation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "aot/graph/aot_error.h"
#include "aot/passes/pass.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
namespace {

constexpr int64_t kDefaultLinearGroup = 128;  // ExecuTorch's

struct RuleRow {
  std::string_view name;
  ScaleRule rule;
};
constexpr std::array kRules = {RuleRow{"hqq", ScaleRule::kHqq},
                               RuleRow{"affine", ScaleRule::kAffine}};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t end = 0; end != std::string_view::npos; text.remove_prefix(end + 1)) {
    end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
  }
  return parts;
}

// -1 if it is not a count.
int64_t parse_count(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole && number >= 0 ? number : -1;
}

// What is left of an item: [GROUP][:RULE].
void parse_rest(std::span<const std::string_view> parts, WeightScheme& scheme) {
  if (!parts.empty() && parse_count(parts.front()) >= 0) {
    scheme.group = parse_count(parts.front());
    parts = parts.subspan(1);
  }
  if (parts.empty()) return;
  const auto rule = std::ranges::find(kRules, parts.front(), &RuleRow::name);
  if (rule == kRules.end()) {
    throw AotError(
        fmt::format("\"{}\" is neither a group's size nor hqq nor affine", parts.front()));
  }
  if (parts.size() > 1) throw AotError(fmt::format("\"{}\" is too much", parts[1]));
  scheme.scale_rule = rule->rule;
}

void parse_item(std::string_view item, QuantiseOptions& options) {
  const std::vector<std::string_view> parts = split(item, ':');
  std::span<const std::string_view> rest = std::span(parts).subspan(1);
  WeightScheme scheme;
  std::optional<WeightScheme>* to = nullptr;
  if (parts[0] == "8da4w") {
    scheme.group = kDefaultLinearGroup;
    to = &options.linears;
  } else if (parts[0] == "embedding") {
    const int64_t bits = rest.empty() ? 0 : parse_count(rest.front());
    if (bits != 2 && bits != 4 && bits != 8) throw AotError("embeddings have 2, 4 or 8 bits");
    scheme.bits = static_cast<int>(bits);
    rest = rest.subspan(1);
    to = &options.embeddings;
  } else {
    throw AotError(
        fmt::format("there is no scheme \"{}\"; there are 8da4w and embedding", parts[0]));
  }
  parse_rest(rest, scheme);
  if (to->has_value()) throw AotError(fmt::format("{} is given twice", parts[0]));
  *to = scheme;
}

}  // namespace

QuantiseOptions parse_quantisation(std::string_view text) try {
  QuantiseOptions options;
  for (const std::string_view item : split(text, ',')) parse_item(item, options);
  return options;
} catch (const AotError& error) {
  throw AotError(fmt::format("--quantize {}: {}", text, error.what()));
}

std::vector<std::string> apply(const QuantiseOptions& options, Methods& methods) {
  QuantiseResult all;
  for (auto& [name, program] : methods) {
    QuantiseResult made;
    const Pass passes[] = {
        {"inline_wrapped", inline_wrapped},
        {"quantise", [&](ExportedProgram& each) { made = quantise(each, options); }}};
    run_passes(program, passes);
    all.linears += made.linears;
    all.embeddings += made.embeddings;
    std::ranges::copy_if(made.skipped, std::back_inserter(all.skipped), [&](const auto& each) {
      return std::ranges::find(all.skipped, each) == all.skipped.end();
    });
  }
  if (options.linears && all.linears == 0) {
    throw AotError(all.skipped.empty()
                       ? "--quantize 8da4w: no linear layer has a float weight of its own"
                       : fmt::format("--quantize 8da4w: no linear layer can be quantised: {}",
                                     fmt::join(all.skipped, "; ")));
  }
  if (options.embeddings && all.embeddings == 0) {
    throw AotError("--quantize embedding: no embedding has a float weight of its own");
  }
  return all.skipped;
}

}  // namespace vitrine::aot
