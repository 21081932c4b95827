#include "aot/pipeline/quantization.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "aot/graph/aot_error.h"
#include "aot/graph/model_part.h"
#include "aot/graph/pass.h"
#include "aot/passes/passes.h"
#include "base/text/text_layout.h"

namespace vitrine::aot {
namespace {

constexpr int64_t kDefaultLinearGroup = 128;  // as in ExecuTorch

struct NamedRule {
  std::string_view name;
  ScaleRule rule;
};
constexpr std::array kRules = {NamedRule{"hqq", ScaleRule::kHqq},
                               NamedRule{"affine", ScaleRule::kAffine}};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t end = 0; end != std::string_view::npos; text.remove_prefix(end + 1)) {
    end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
  }
  return parts;
}

// Parses a nonnegative integer. Returns -1 for any other text.
int64_t parse_count(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number && number >= 0 ? number : -1;
}

// Parses the end of a scheme's text: [GROUP][:RULE].
void parse_rest(std::span<const std::string_view> parts, WeightScheme& scheme) {
  if (!parts.empty() && parse_count(parts.front()) >= 0) {
    scheme.group = parse_count(parts.front());
    parts = parts.subspan(1);
  }
  if (parts.empty()) return;
  const auto rule = std::ranges::find(kRules, parts.front(), &NamedRule::name);
  if (rule == kRules.end()) {
    throw AotError(
        fmt::format("expected a group size, hqq or affine, found \"{}\"", parts.front()));
  }
  if (parts.size() > 1) throw AotError(fmt::format("unexpected \"{}\" after the rule", parts[1]));
  scheme.scale_rule = rule->rule;
}

// Parses "int8" or "int8_dynamic", and an optional ":per_channel" or ":per_tensor".
std::optional<Int8Scheme> int8_scheme(std::string_view item) {
  const std::vector<std::string_view> parts = split(item, ':');
  if (parts[0] != "int8" && parts[0] != "int8_dynamic") return std::nullopt;
  Int8Scheme scheme{.is_dynamic = parts[0] == "int8_dynamic"};
  if (parts.size() == 1) return scheme;
  if (parts.size() > 2 || (parts[1] != "per_channel" && parts[1] != "per_tensor")) {
    throw AotError(fmt::format("expected {}:per_channel or {}:per_tensor, found \"{}\"", parts[0],
                               parts[0], item));
  }
  scheme.is_per_channel = parts[1] == "per_channel";
  return scheme;
}

std::optional<ScalarType> half_dtype(std::string_view item) {
  if (item == "f16") return ScalarType::kHalf;
  if (item == "bf16") return ScalarType::kBFloat16;
  return std::nullopt;
}

// Parses a weight scheme such as "8da4w:32" or "embedding:4:32". Sets one member of the result.
WeightRule weight_schemes(std::string_view item) {
  const std::vector<std::string_view> parts = split(item, ':');
  std::span<const std::string_view> rest = std::span(parts).subspan(1);
  WeightScheme scheme;
  WeightRule made;
  std::optional<WeightScheme>* to = nullptr;
  if (parts[0] == "8da4w") {
    scheme.group = kDefaultLinearGroup;
    to = &made.linears;
  } else if (parts[0] == "embedding") {
    const int64_t bits = rest.empty() ? 0 : parse_count(rest.front());
    if (bits != 2 && bits != 4 && bits != 8)
      throw AotError("embedding needs 2, 4 or 8 bits, such as embedding:4");
    scheme.bits = static_cast<int>(bits);
    rest = rest.subspan(1);
    to = &made.embeddings;
  } else {
    throw AotError(fmt::format(
        "unknown scheme \"{}\"; the schemes are float, f16, bf16, int8, int8_dynamic, 8da4w and "
        "embedding",
        parts[0]));
  }
  parse_rest(rest, scheme);
  *to = scheme;
  return made;
}

void parse_item(std::string_view item, Quantization& all) {
  if (const auto scheme = int8_scheme(item)) {
    if (all.int8)
      throw AotError(
          "int8 or int8_dynamic may be set only once; use --keep for parts of the model");
    all.int8 = Int8Options{.scheme = *scheme, .rules = {}};
    return;
  }
  if (const auto dtype = half_dtype(item)) {
    if (all.half.dtype)
      throw AotError("f16 or bf16 may be set only once; use --keep for parts of the model");
    all.half.dtype = dtype;
    return;
  }
  const WeightRule made = weight_schemes(item);
  for (const auto& [from, to] : {std::pair(&made.linears, &all.weights.linears),
                                 std::pair(&made.embeddings, &all.weights.embeddings)}) {
    if (!*from) continue;
    if (*to)
      throw AotError(fmt::format("the scheme {} is set twice", item.substr(0, item.find(':'))));
    *to = *from;
  }
}

}  // namespace

Quantization parse_quantization(std::string_view text) try {
  Quantization all;
  if (text == "float") return all;
  for (const std::string_view item : split(text, ',')) parse_item(item, all);
  if (all.int8 && all.weights.linears) {
    throw AotError("int8 and 8da4w both quantize linear layers; choose one");
  }
  return all;
} catch (const AotError& error) {
  throw AotError(fmt::format("--quantize {}: {}", text, error.what()));
}

void add_rule(std::string_view text, Quantization& to) try {
  const size_t equals = text.rfind('=');
  if (equals == 0 || equals == std::string_view::npos) {
    throw AotError("expected PART=SCHEME, such as 'classifier.*=float'");
  }
  const std::string pattern(text.substr(0, equals));
  const std::string_view scheme = text.substr(equals + 1);
  if (const auto int8 = int8_scheme(scheme)) {
    if (!to.int8) throw AotError("an int8 rule needs --quantize int8 or int8_dynamic");
    to.int8->rules.push_back({.pattern = pattern, .scheme = int8});
    return;
  }
  const std::optional<ScalarType> half = half_dtype(scheme);
  const bool is_float = half || scheme == "float";
  WeightRule rule = is_float ? WeightRule{} : weight_schemes(scheme);
  rule.pattern = pattern;
  if (to.int8 && !rule.embeddings) {
    to.int8->rules.push_back(
        {.pattern = pattern, .kept_as = is_float ? "float" : std::string(scheme)});
  }
  if (is_float) to.half.rules.push_back({pattern, half});
  to.weights.rules.push_back(std::move(rule));
} catch (const AotError& error) {
  throw AotError(fmt::format("--keep {}: {}", text, error.what()));
}

[[noreturn]] void refuse_linears(std::vector<std::string> skipped) {
  if (skipped.empty()) {
    throw AotError(
        "--quantize 8da4w: no linear layer has a float weight to quantize; computed weights and "
        "layers that --keep leaves float do not count");
  }
  constexpr size_t kMaxListed = 3;
  throw AotError(fmt::format(
      "--quantize 8da4w: no linear layer can be quantized: {}; choose a group size that divides "
      "the row lengths, as in 8da4w:32",
      fmt::join(inspector::first_names(std::move(skipped), kMaxListed), "; ")));
}

void require_known(const QuantizeOptions& options, const QuantizeResult& all,
                   const Methods& methods) {
  for (size_t i = 0; i < options.rules.size(); ++i) {
    const WeightRule& rule = options.rules[i];
    if (!all.is_known[i]) throw unknown_part(methods.begin()->second, rule.pattern);
    if (all.by_rule[i] != 0 || (!rule.linears && !rule.embeddings)) continue;
    throw NothingToQuantize(fmt::format("--keep {}=...: no {} of this part {} quantized{}",
                                        rule.pattern, rule.linears ? "linear layer" : "embedding",
                                        rule.linears ? "can be" : "has a float weight that can be",
                                        all.skipped.empty() ? "" : ": " + all.skipped.front()));
  }
}

std::vector<std::string> apply(const QuantizeOptions& options, Methods& methods) {
  QuantizeResult all;
  all.is_known.resize(options.rules.size());
  all.by_rule.resize(options.rules.size());
  for (auto& [name, program] : methods) {
    QuantizeResult made;
    const Pass passes[] = {
        {"inline_wrapped", inline_wrapped},
        {"quantize", [&](ExportedProgram& each) { made = quantize(each, options); }}};
    run_passes(program, passes);
    all.linears += made.linears;
    all.embeddings += made.embeddings;
    for (size_t i = 0; i < options.rules.size(); ++i) {
      all.is_known[i] = all.is_known[i] || made.is_known[i];
      all.by_rule[i] += made.by_rule[i];
    }
    std::ranges::copy_if(made.skipped, std::back_inserter(all.skipped), [&](const auto& each) {
      return std::ranges::find(all.skipped, each) == all.skipped.end();
    });
  }
  if (options.linears && all.linears == 0) refuse_linears(all.skipped);
  if (options.embeddings && all.embeddings == 0) {
    throw AotError(
        "--quantize embedding: no embedding has a float weight to quantize; computed weights and "
        "embeddings that --keep leaves float do not count");
  }
  require_known(options, all, methods);
  return all.skipped;
}

void require_converted(const HalfOptions& options, const HalfResult& all) {
  if (options.is_empty()) return;
  const auto name = [](ScalarType dtype) { return dtype == ScalarType::kHalf ? "f16" : "bf16"; };
  if (options.dtype && all.calls == 0) {
    throw NothingToQuantize(
        fmt::format("--quantize {}: no call of the model computes in f32", name(*options.dtype)));
  }
  for (size_t i = 0; i < options.rules.size(); ++i) {
    const HalfRule& rule = options.rules[i];
    if (!rule.dtype || (i < all.by_rule.size() && all.by_rule[i] != 0)) continue;
    throw NothingToQuantize(
        fmt::format("--keep {}={}: no call of this part computes in f32, or an earlier rule names "
                    "all of them",
                    rule.pattern, name(*rule.dtype)));
  }
}

}  // namespace vitrine::aot
