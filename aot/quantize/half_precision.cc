#include "aot/quantize/half_precision.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "aot/graph/node_error.h"
#include "aot/graph/pass.h"
#include "aot/quantize/prepare.h"
#include "aot/quantize/stored_floats.h"

namespace vitrine::aot {
namespace {

constexpr std::string_view kConversion = "aten._to_copy.default";
// Operators whose results contain only elements of an operand or constants (bounds of clamp).
constexpr std::string_view kMovers[] = {
    "cat",        "clamp",   "clone",  "constant_pad_nd", "expand_copy",    "flatten",
    "hardtanh",   "permute", "relu",   "permute_copy",    "repeat",         "select_copy",
    "slice_copy", "stack",   "t_copy", "squeeze_copy",    "transpose_copy", "unsqueeze_copy",
    "view_copy"};

bool is_f32(const Node& node) {
  return node.tensor() != nullptr && node.tensor()->dtype == ScalarType::kFloat;
}

bool is_dequantized(const Node& node) {
  return node.is_call() && node.target().op().starts_with("dequantize");
}

bool is_mover(const Node& node) {
  return std::ranges::find(kMovers, node.target().op()) != std::end(kMovers);
}

class HalfConverter {
 public:
  HalfConverter(ExportedProgram& program, const HalfOptions& options, const RuleKinds& kinds,
                const std::function<bool(const Node&)>& can_run)
      : program_(program), options_(options), kinds_(kinds), can_run_(can_run) {
    result_.by_rule.resize(options.rules.size());
  }

  HalfResult run() {
    Node* next = nullptr;
    for (Node* node = &program_.graph->nodes().front(); node != nullptr; node = next) {
      next = node->next();
      if (node->is_call()) run_at_node(node->name(), [&] { visit(*node); });
    }
    program_.graph->remove_dead_code();
    remove_unused_weights(program_);
    return std::move(result_);
  }

 private:
  void visit(Node& node) {
    if (is_int8(node)) {
      int8_calls_.insert(&node);
      return;
    }
    if (!can_convert(node)) return;
    const size_t rule = rule_of(node);
    std::optional<ScalarType> dtype = options_.dtype;
    if (rule < options_.rules.size()) {
      dtype = options_.rules[rule].dtype;
    } else if (!dtype && is_mover(node)) {
      dtype = dtype_of_operands(node);
    }
    if (!dtype) return;
    if (!convert(node, *dtype)) return;
    if (rule < options_.rules.size()) ++result_.by_rule[rule];
    ++result_.calls;
  }

  // Returns the first rule that names the call, or else the number of rules.
  size_t rule_of(const Node& node) const {
    for (size_t i = 0; i < options_.rules.size(); ++i) {
      const std::string& pattern = options_.rules[i].pattern;
      if (kinds_[i] && (is_in_part(node, pattern, *kinds_[i]) ||
                        (*kinds_[i] == PartKind::kOperator && comes_from(node, pattern)))) {
        return i;
      }
    }
    return options_.rules.size();
  }

  // True for a call that backends recognize as int8: its float operands, except for a bias, are
  // dequantized tensors. Also true for a call between an int8 call and quantize calls, such as a
  // relu.
  bool is_int8(const Node& node) const {
    if (is_quantization(node.target())) return false;
    bool has_dequantized = false;
    size_t index = 0;
    for (const Node* input : node.inputs()) {
      if (!is_f32(*input)) continue;
      if (is_dequantized(*input)) {
        has_dequantized = true;
      } else if (index < 2) {  // a third operand is a bias
        has_dequantized = false;
        break;
      }
      ++index;
    }
    if (has_dequantized) return true;
    return !node.users().empty() && std::ranges::all_of(node.users(), [](const Node* user) {
      return user->is_call() && user->target().op().starts_with("quantize");
    }) && std::ranges::any_of(node.inputs(), [&](const Node* input) {
      return int8_calls_.contains(input);
    });
  }

  static bool can_convert(const Node& node) {
    if (node.target().name_space() != "aten" || node.target().is(kConversion) || !is_f32(node) ||
        is_quantization(node.target()) || node.kwarg("dtype") != nullptr) {
      return false;
    }
    bool has_float = false;
    for (const Node* input : node.inputs()) {
      if (input->tensor() == nullptr) continue;
      const ScalarType dtype = input->tensor()->dtype;
      if (is_floating(dtype) && dtype != ScalarType::kFloat) return false;
      has_float |= dtype == ScalarType::kFloat;
    }
    return has_float;
  }

  // Returns f16 or bf16 if all f32 operands are conversions from this dtype. Empty otherwise.
  std::optional<ScalarType> dtype_of_operands(const Node& node) const {
    std::optional<ScalarType> dtype;
    for (const Node* input : node.inputs()) {
      if (!is_f32(*input)) continue;
      const auto found = narrow_of_.find(input);
      if (found == narrow_of_.end()) return std::nullopt;
      const ScalarType each = found->second->tensor()->dtype;
      if (dtype && *dtype != each) return std::nullopt;
      dtype = each;
    }
    return dtype;
  }

  // Makes the call compute in `dtype`, or returns false if the call cannot run in `dtype`.
  bool convert(Node& node, ScalarType dtype) {
    const ArgumentList wide_args = node.args();
    for (Node* input : std::vector<Node*>(node.inputs())) {
      if (is_f32(*input)) node.replace_input(input, narrowed(node, *input, dtype));
    }
    const TensorSpec wide_spec = *node.tensor();
    TensorSpec spec = wide_spec;
    spec.dtype = dtype;
    node.meta.value = spec;
    if (!can_run_(node)) {
      node.set_args(wide_args);
      node.meta.value = wide_spec;
      return false;
    }
    Node* wide = insert_like(*node.next(), Target::of(kConversion), {&node},
                             {{"dtype", ScalarType::kFloat}}, wide_spec);
    wide->meta.origin = node.meta.origin;
    for (OutputSpec& output : program_.signature.outputs) {
      if (output.name == node.name()) output.name = wide->name();
    }
    node.replace_all_uses_with(wide, wide);
    narrow_of_.emplace(wide, &node);
    return true;
  }

  // Returns the operand, converted to `dtype`.
  Node* narrowed(Node& user, Node& operand, ScalarType dtype) {
    const auto found = narrow_of_.find(&operand);
    if (found != narrow_of_.end() && found->second->tensor()->dtype == dtype) return found->second;
    Node*& made = converted_[{&operand, dtype}];
    if (made != nullptr) return made;
    const InputSpec* stored = program_.input_of(operand.name());
    const TensorData* data = stored == nullptr ? nullptr : program_.data_of(*stored);
    if (data != nullptr && !program_.is_mutated(*stored)) {
      std::string name = stored->target;
      std::ranges::replace(name, '.', '_');
      name += dtype == ScalarType::kHalf ? "_f16" : "_bf16";
      made = program_.add_constant(program_.graph->unique_name(name),
                                   tensor_of(dtype, data->sizes, floats_of(*data)));
    } else {
      TensorSpec spec = *operand.tensor();
      spec.dtype = dtype;
      made = insert_like(user, Target::of(kConversion), {&operand}, {{"dtype", dtype}},
                         std::move(spec));
    }
    return made;
  }

  ExportedProgram& program_;
  const HalfOptions& options_;
  const RuleKinds& kinds_;
  const std::function<bool(const Node&)>& can_run_;
  std::map<const Node*, Node*> narrow_of_;  // conversion to f32 -> its operand
  std::map<std::pair<const Node*, ScalarType>, Node*> converted_;
  std::set<const Node*> int8_calls_;
  HalfResult result_;
};

}  // namespace

bool HalfOptions::is_empty() const {
  return !dtype &&
         std::ranges::none_of(rules, [](const HalfRule& rule) { return rule.dtype.has_value(); });
}

HalfResult& HalfResult::operator+=(const HalfResult& other) {
  calls += other.calls;
  by_rule.resize(other.by_rule.size());
  for (size_t i = 0; i < by_rule.size(); ++i) by_rule[i] += other.by_rule[i];
  return *this;
}

RuleKinds kinds_of(const ExportedProgram& program, const HalfOptions& options) {
  RuleKinds kinds;
  for (const HalfRule& rule : options.rules) kinds.push_back(find_part(program, rule.pattern));
  return kinds;
}

HalfResult convert_to_half(ExportedProgram& program, const HalfOptions& options,
                           const RuleKinds& kinds,
                           const std::function<bool(const Node&)>& can_run) {
  return HalfConverter(program, options, kinds, can_run).run();
}

}  // namespace vitrine::aot
