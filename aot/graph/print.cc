#include "aot/graph/print.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace vitrine::aot {
namespace {

// PyTorch's names of dtypes, indexed by the numeric value of a ScalarType.
constexpr std::array<std::string_view, kNumScalarTypes> kTorchNames = {
    "uint8",           "int8",
    "int16",           "int32",
    "int64",           "float16",
    "float32",         "float64",
    "complex32",       "complex64",
    "complex128",      "bool",
    "qint8",           "quint8",
    "qint32",          "bfloat16",
    "quint4x2",        "quint2x4",
    "bits1x8",         "bits2x4",
    "bits4x2",         "bits8",
    "bits16",          "float8_e5m2",
    "float8_e4m3fn",   "float8_e5m2fnuz",
    "float8_e4m3fnuz", "uint16",
    "uint32",          "uint64"};
constexpr std::array<std::string_view, 4> kFormats = {"contiguous_format", "channels_last",
                                                      "channels_last_3d", "preserve_format"};
constexpr std::array<std::string_view, 7> kLayouts = {
    "strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "_mkldnn"};

// Formats a number like Python's repr: with the fewest digits that read back as the same value, and
// with an exponent for magnitudes of at least 1e16 or below 1e-4.
std::string format_double(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 64> buffer;
  const double size = std::abs(value);
  const bool is_plain = size == 0 || (size >= 1e-4 && size < 1e16);
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                    is_plain ? std::chars_format::fixed : std::chars_format::scientific)
          .ptr;
  std::string text(buffer.data(), end);
  if (is_plain && text.find('.') == std::string::npos) text += ".0";
  return text;
}

// Prints an argument, with `sign` before each node name.
std::string format(const Argument& argument, std::string_view sign);

std::string format_items(const ArgumentList& items, std::string_view sign) {
  std::string text;
  for (const Argument& item : items) {
    if (!text.empty()) text += ", ";
    text += format(item, sign);
  }
  return text;
}

std::string format_map(const ArgumentMap& items, std::string_view sign, std::string_view quote) {
  std::string text;
  for (const auto& [key, item] : items) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{}{}{}: {}", quote, key, quote, format(item, sign));
  }
  return text;
}

struct Formatter {
  std::string_view sign;
  std::string operator()(std::monostate) const { return "None"; }
  std::string operator()(Node* node) const { return fmt::format("{}{}", sign, node->name()); }
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return format_double(value); }
  std::string operator()(std::complex<double> value) const {
    return fmt::format("({}+{}j)", value.real(), value.imag());
  }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(ScalarType value) const {
    return fmt::format("torch.{}", is_valid(value) ? kTorchNames[static_cast<size_t>(value)] : "?");
  }
  std::string operator()(MemoryFormat value) const {
    return fmt::format("torch.{}", kFormats[static_cast<size_t>(value)]);
  }
  std::string operator()(Layout value) const {
    return fmt::format("torch.{}", kLayouts[static_cast<size_t>(value)]);
  }
  std::string operator()(const Device& value) const {
    return value.index < 0 ? value.type : fmt::format("{}:{}", value.type, value.index);
  }
  std::string operator()(Target value) const { return value.text(); }
  std::string operator()(const ArgumentList& items) const {
    return fmt::format("[{}]", format_items(items, sign));
  }
  std::string operator()(const ArgumentMap& items) const {
    return fmt::format("{{{}}}", format_map(items, sign, "'"));
  }
};

std::string format(const Argument& argument, std::string_view sign) {
  if (argument.is_tuple()) {
    const ArgumentList& items = *argument.list();
    return fmt::format("({}{})", format_items(items, sign), items.size() == 1 ? "," : "");
  }
  return std::visit(Formatter{sign}, argument.value());
}

}  // namespace

std::string format_argument(const Argument& argument) { return format(argument, "%"); }

std::string format_node(const Node& node) {
  const auto head = [&](std::string_view op, std::string_view target) {
    return fmt::format("%{} : [num_users={}] = {}[target={}]", node.name(), node.users().size(), op,
                       target);
  };
  switch (node.kind()) {
    case Node::Kind::kPlaceholder:
      return head("placeholder", node.name());
    case Node::Kind::kGetAttr:
      return head("get_attr", node.attribute());
    case Node::Kind::kOutput:
      return fmt::format("return {}", format(node.need(0), ""));
    case Node::Kind::kCall:
      break;
  }
  return fmt::format("{}(args = {}, kwargs = {{{}}})", head("call_function", node.target().text()),
                     format(Argument::tuple(node.args()), "%"), format_map(node.kwargs(), "%", ""));
}

std::string format_graph(const Graph& graph) {
  std::string text = "graph():";
  for (const Node& node : graph.nodes()) text += "\n    " + format_node(node);
  return text;
}

}  // namespace vitrine::aot
