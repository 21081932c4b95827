#include "aot/quantize/annotations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string_view>

#include "aot/graph/aot_error.h"
#include "aot/graph/model_part.h"
#include "aot/operators/call.h"
#include "aot/quantize/observer_groups.h"
#include "aot/quantize/stored_floats.h"

namespace vitrine::aot {
namespace {

using Names = std::span<const std::string_view>;

constexpr std::string_view kRelus[] = {"aten.relu.default", "aten.relu_.default"};
constexpr std::string_view kLinears[] = {"aten.linear.default"};
constexpr std::string_view kConvolutions[] = {"aten.conv1d.default", "aten.conv1d.padding",
                                              "aten.conv2d.default", "aten.conv2d.padding",
                                              "aten.conv3d.default", "aten.conv3d.padding"};
constexpr std::string_view kTransposedConvolutions[] = {
    "aten.conv_transpose1d.default", "aten.conv_transpose2d.input", "aten.conv_transpose3d.input"};
constexpr std::string_view kAdaptivePools[] = {"aten.adaptive_avg_pool2d.default"};
constexpr std::string_view kAdds[] = {"aten.add.Tensor", "aten.add_.Tensor"};
constexpr std::string_view kMuls[] = {"aten.mul.Tensor", "aten.mul_.Tensor"};
constexpr std::string_view kCats[] = {"aten.cat.default"};

// Like PyTorch's set_operator_type(), a rule that names one of these operators applies to all calls
// of the same kind, for example to all convolutions.
constexpr std::string_view kConvolutionKeys[] = {"aten.conv1d.default", "aten.conv2d.default",
                                                 "aten.convolution.default"};
constexpr std::string_view kAddKeys[] = {"aten.add.Tensor"};
constexpr std::string_view kMulKeys[] = {"aten.mul.Tensor"};

// Operators whose result has the same scale as their input.
constexpr std::string_view kPropagating[] = {
    "aten.relu.default",       "aten.hardtanh.default",     "aten.hardtanh_.default",
    "aten.max_pool2d.default", "aten.mean.default",         "aten.mean.dim",
    "aten.permute.default",    "aten.permute_copy.default", "aten.transpose.int",
    "aten.squeeze.dim",        "aten.squeeze_copy.dim",     "aten.adaptive_avg_pool2d.default",
    "aten.view_copy.default",  "aten.view.default",         "aten.reshape.default",
    "aten.slice_copy.Tensor",  "aten.flatten.using_ints"};

constexpr std::string_view kAdaptivePoolModule = "torch.nn.modules.pooling.AdaptiveAvgPool2d";
constexpr float kMaxConstant = 3.4028235e15F;  // XNNPACKQuantizer's limit for histograms

bool calls_one_of(const Node* node, Names names) {
  return node != nullptr && node->is_call() &&
         std::ranges::find(names, std::string_view(node->target().name())) != names.end();
}

class Annotator {
 public:
  Annotator(const ExportedProgram& program, const Int8Options& options,
            const std::map<const Node*, std::string>& excluded)
      : program_(program), options_(options) {
    made_.reasons = excluded;
    excluded_ = &excluded;
    for (const Int8Rule& rule : options.rules) {
      const std::optional<PartKind> kind = find_part(program, rule.pattern);
      if (!kind) throw unknown_part(program, rule.pattern);
      rules_.push_back({&rule, *kind});
    }
  }

  Annotations run() {
    for (const PartKind kind : {PartKind::kModule, PartKind::kModuleType, PartKind::kOperator}) {
      for (const KnownRule& each : rules_) {
        if (each.kind != kind || !each.rule->scheme) continue;
        const std::string& pattern = each.rule->pattern;
        run_pass(*each.rule->scheme, kind == PartKind::kOperator ? pattern : "",
                 [&](const Node& node) {
                   return kind == PartKind::kOperator ? is_outside_rules(node)
                                                      : is_in_module(node, pattern, kind);
                 });
      }
    }
    run_pass(options_.scheme, "", [&](const Node& node) { return is_outside_rules(node); });
    propagate();
    find_groups(program_, made_);
    return std::move(made_);
  }

 private:
  struct KnownRule {
    const Int8Rule* rule;
    PartKind kind;
  };
  using Filter = std::function<bool(const Node&)>;
  struct Pattern {
    Names keys;  // operators: a rule that names one selects the pattern
    bool is_for_dynamic;
    void (Annotator::*visit)(Node& node);
  };

  // True if no rule sets an int8 scheme for the call's module.
  bool is_outside_rules(const Node& node) const {
    return std::ranges::none_of(rules_, [&](const KnownRule& each) {
      return each.rule->scheme && each.kind != PartKind::kOperator &&
             is_in_module(node, each.rule->pattern, each.kind);
    });
  }

  // Returns the reason why a call must stay float. Empty if the call may become int8.
  std::string kept_float(const Node& node) const {
    if (const auto found = excluded_->find(&node); found != excluded_->end()) return found->second;
    for (const KnownRule& each : rules_) {
      if (each.rule->scheme || !node.is_call()) continue;
      const bool is_for_linears = each.rule->kept_as != "float";
      if (is_for_linears && !calls_one_of(&node, kLinears)) continue;
      if (is_in_part(node, each.rule->pattern, each.kind)) {
        return fmt::format("--keep {}={}", each.rule->pattern, each.rule->kept_as);
      }
    }
    return "";
  }

  // True if the current pass may annotate all `nodes` that are not null. Otherwise records the
  // reason for the first node, which is a call.
  bool may(std::initializer_list<Node*> nodes) {
    Node* call = *nodes.begin();
    for (Node* node : nodes) {
      if (node == nullptr) continue;
      std::string reason = kept_float(*node);
      if (reason.empty() && !filter_(*node)) {
        // In a pass for a module or a module type, filter_ rejects stored tensors, because stored
        // tensors do not belong to a module.
        reason = is_stored(program_, *node)
                     ? "as in PyTorch, a scheme for a module does not apply to the weights of "
                       "convolutions and of linear layers with relu"
                     : "another rule of --keep names its module";
      }
      if (!reason.empty()) return skip(*call, std::move(reason));
    }
    return true;
  }

  bool skip(Node& node, std::string reason) {
    made_.reasons[&node] = std::move(reason);
    return false;
  }

  bool is_annotated(Node* node) const { return node != nullptr && made_.calls.contains(node); }

  bool are_free(Node& call, std::initializer_list<Node*> others) {
    if (is_annotated(&call)) return false;
    for (Node* node : others) {
      if (is_annotated(node)) {
        return skip(call, fmt::format("another call also uses {}; only the first call becomes int8",
                                      node->name()));
      }
    }
    return true;
  }

  void run_pass(const Int8Scheme& scheme, const std::string& op, Filter filter) {
    scheme_ = scheme;
    filter_ = std::move(filter);
    static constexpr Pattern kPatterns[] = {
        {kLinears, false, &Annotator::linear_relu},
        {kLinears, true, &Annotator::linear},
        {kConvolutionKeys, true, &Annotator::convolution},
        {kTransposedConvolutions, true, &Annotator::transposed_convolution},
        {kConvolutionKeys, false, &Annotator::convolution_relu},
        {kTransposedConvolutions, false, &Annotator::transposed_convolution_relu},
        {kAdaptivePools, false, &Annotator::adaptive_pool},
        {kAddKeys, false, &Annotator::add_relu},
        {kAddKeys, false, &Annotator::add},
        {kMulKeys, false, &Annotator::mul_relu},
        {kMulKeys, false, &Annotator::mul},
        {kCats, false, &Annotator::cat}};
    for (const Pattern& pattern : kPatterns) {
      if (scheme.is_dynamic && !pattern.is_for_dynamic) continue;
      const bool is_selected = op.empty() || std::ranges::any_of(pattern.keys, [&](auto key) {
                                 return is_named(Target::of(key), op);
                               });
      if (!is_selected) continue;
      for (Node& node : program_.graph->nodes()) {
        if (node.is_call()) (this->*pattern.visit)(node);
      }
    }
  }

  Int8Spec input_spec() const {
    return {.kind = scheme_.is_dynamic ? Int8Spec::Kind::kDynamicActivation
                                       : Int8Spec::Kind::kActivation};
  }
  Int8Spec weight_spec(int64_t axis) const {
    if (!scheme_.is_per_channel) return {.kind = Int8Spec::Kind::kWeight};
    return {.kind = Int8Spec::Kind::kChannelWeight, .axis = axis};
  }

  static void add_input(Annotation& to, Node* node, UseSpec spec) {
    const auto found =
        std::ranges::find(to.inputs, node, [](const auto& input) { return input.first; });
    if (found == to.inputs.end()) {
      to.inputs.emplace_back(node, spec);
    } else {
      found->second = spec;
    }
  }

  // Annotates a call with a weight. `last` produces the output: `call` itself or a relu after
  // `call`.
  void annotate_layer(Node& call, Node& last, int64_t axis) {
    Annotation& annotation = made_.calls[&call];
    add_input(annotation, &call.need_node(0), input_spec());
    Node& weight = call.need_node(1);
    add_input(annotation, &weight, weight_spec(axis));
    made_.calls[&weight];
    if (Node* bias = bias_of(call)) made_.calls[bias];
    Annotation& output = made_.calls[&last];
    if (!scheme_.is_dynamic) output.output = input_spec();
    made_.reasons.erase(&call);
    made_.reasons.erase(&last);
  }

  static Node* bias_of(const Node& call) {
    const Argument* bias = call.arg(2) != nullptr ? call.arg(2) : call.kwarg("bias");
    return bias == nullptr ? nullptr : bias->node();
  }
  static bool has_nodes(const Node& call) {
    return call.args().size() >= 2 && call.args()[0].node() != nullptr &&
           call.args()[1].node() != nullptr;
  }

  // Returns the call before a relu if only the relu uses the call's result, and otherwise null.
  static Node* only_input(const Node& relu, Names names) {
    if (!calls_one_of(&relu, kRelus)) return nullptr;
    Node* input = relu.need(0).node();
    return calls_one_of(input, names) && input->users().size() == 1 && has_nodes(*input) ? input
                                                                                         : nullptr;
  }

  void linear_relu(Node& relu) {
    Node* call = only_input(relu, kLinears);
    if (call == nullptr) return;
    Node* weight = &call->need_node(1);
    if (is_annotated(&relu) || !are_free(*call, {weight, bias_of(*call)}) ||
        !may({call, weight, bias_of(*call), &relu})) {
      return;
    }
    annotate_layer(*call, relu, 0);
  }

  void linear(Node& call) {
    if (!calls_one_of(&call, kLinears) || is_annotated(&call) || !has_nodes(call)) return;
    if (may({&call})) annotate_layer(call, call, 0);
  }

  void convolution(Node& call) { plain_convolution(call, kConvolutions, 0); }
  void transposed_convolution(Node& call) { plain_convolution(call, kTransposedConvolutions, 1); }
  void convolution_relu(Node& relu) { convolution_with_relu(relu, kConvolutions, 0); }
  void transposed_convolution_relu(Node& relu) {
    convolution_with_relu(relu, kTransposedConvolutions, 1);
  }

  void plain_convolution(Node& call, Names names, int64_t axis) {
    if (!calls_one_of(&call, names) || !has_nodes(call) || is_annotated(&call)) return;
    if (call.users().size() == 1 && calls_one_of(call.users().front(), kRelus)) {
      if (scheme_.is_dynamic) {
        skip(call, "a convolution with relu cannot be dynamically quantized");
      }
      return;
    }
    Node* weight = &call.need_node(1);
    if (!are_free(call, {weight, bias_of(call)}) || !has_one_group(call, axis) ||
        !fits_dynamic(call, axis) || !may({&call, weight, bias_of(call)})) {
      return;
    }
    annotate_layer(call, call, axis);
  }

  void convolution_with_relu(Node& relu, Names names, int64_t axis) {
    Node* call = only_input(relu, names);
    if (call == nullptr || is_annotated(&relu)) return;
    Node* weight = &call->need_node(1);
    if (!are_free(*call, {weight, bias_of(*call)}) || !has_one_group(*call, axis) ||
        !may({call, weight, bias_of(*call), &relu})) {
      return;
    }
    annotate_layer(*call, relu, axis);
  }

  bool has_one_group(Node& call, int64_t axis) {
    if (axis == 0 || Call(call).integer("groups") == 1) return true;
    return skip(call, "a transposed convolution with groups cannot be int8");
  }

  bool fits_dynamic(Node& call, int64_t axis) {
    if (!scheme_.is_dynamic) return true;
    const TensorSpec* weight = call.need_node(1).tensor();
    if (weight == nullptr || weight->rank() != 4) {
      return skip(call, "only 2-D convolutions can be dynamically quantized");
    }
    if (axis == 0 && weight->sizes[1] == SymInt(1)) {
      return skip(call,
                  "a convolution with one input channel per group cannot be dynamically quantized");
    }
    return true;
  }

  void adaptive_pool(Node& pool) {
    if (!calls_one_of(&pool, kAdaptivePools) || is_annotated(&pool)) return;
    const bool is_module = pool.meta.origin != nullptr && !pool.meta.origin->module_stack.empty() &&
                           pool.meta.origin->module_stack.back().type_name == kAdaptivePoolModule;
    if (!is_module) {
      skip(pool, "only the module nn.AdaptiveAvgPool2d becomes int8, not the pooling function");
      return;
    }
    Node* input = pool.need(0).node();
    if (input == nullptr || !may({&pool})) return;
    Annotation& annotation = made_.calls[&pool];
    add_input(
        annotation, input,
        output_of(input) != nullptr ? UseSpec(TensorUse{input, nullptr}) : UseSpec(input_spec()));
    annotation.output = TensorUse{input, &pool};
    made_.reasons.erase(&pool);
  }

  void add_relu(Node& relu) { elementwise_relu(relu, kAdds); }
  void add(Node& call) { elementwise(call, kAdds); }
  void mul_relu(Node& relu) { elementwise_relu(relu, kMuls); }
  void mul(Node& call) { elementwise(call, kMuls); }

  void elementwise_relu(Node& relu, Names names) {
    if (!calls_one_of(&relu, kRelus)) return;
    Node* call = relu.need(0).node();
    if (!calls_one_of(call, names) || call->users().size() != 1) return;
    if (is_annotated(call) || is_annotated(&relu) || !are_fit(*call) || !may({call, &relu})) return;
    annotate_operands(*call, relu);
  }

  void elementwise(Node& call, Names names) {
    if (!calls_one_of(&call, names) || is_annotated(&call)) return;
    if (are_fit(call) && may({&call})) annotate_operands(call, call);
  }

  void annotate_operands(Node& call, Node& last) {
    Annotation& annotation = made_.calls[&call];
    for (size_t i = 0; i < 2 && i < call.args().size(); ++i) {
      if (Node* operand = call.args()[i].node()) add_input(annotation, operand, input_spec());
    }
    made_.calls[&last].output = input_spec();
    made_.reasons.erase(&call);
    made_.reasons.erase(&last);
  }

  bool are_fit(Node& call) {
    for (size_t i = 0; i < 2 && i < call.args().size(); ++i) {
      Node* operand = call.args()[i].node();
      if (operand == nullptr) continue;
      if (operand->tensor() == nullptr || operand->tensor()->dtype != ScalarType::kFloat) {
        return skip(
            call,
            fmt::format("its operand {} is {}, but must be an f32 tensor", operand->name(),
                        operand->tensor() == nullptr ? "a number"
                                                     : scalar_type_name(operand->tensor()->dtype)));
      }
      if (!is_stored(program_, *operand)) continue;
      const TensorData& data = *program_.data_of(*program_.input_of(operand->name()));
      if (data.numel() != 1) continue;
      const float value = floats_of(data).front();
      if (std::abs(value) > kMaxConstant) {
        return skip(call, fmt::format("its operand {} has the value {:g}, above the limit of {:g}",
                                      operand->name(), value, kMaxConstant));
      }
    }
    return true;
  }

  const UseSpec* output_of(Node* node) const {
    const auto found = made_.calls.find(node);
    return found == made_.calls.end() || !found->second.output ? nullptr : &*found->second.output;
  }

  bool leads_to_output(Node* node) const {
    for (; node != nullptr; node = node->need(0).node()) {
      if (output_of(node) != nullptr) return true;
      if (!calls_one_of(node, kPropagating) || node->args().empty()) return false;
    }
    return false;
  }

  void cat(Node& call) {
    if (!calls_one_of(&call, kCats) || is_annotated(&call)) return;
    std::vector<Node*> inputs;
    if (const ArgumentList* list = call.need(0).list()) {
      for (const Argument& item : *list) {
        if (item.node() != nullptr) inputs.push_back(item.node());
      }
    }
    if (inputs.empty()) return;
    if (!std::ranges::all_of(inputs, has_floats)) {
      skip(call, "it concatenates tensors that are not f32, f16 or bf16");
      return;
    }
    // Ignores the filter, because PyTorch annotates all concatenations in every pass.
    if (std::string reason = kept_float(call); !reason.empty()) {
      skip(call, std::move(reason));
      return;
    }
    auto source = std::ranges::find_if(inputs, [&](Node* node) { return leads_to_output(node); });
    Node* first = source == inputs.end() ? inputs.front() : *source;
    Annotation& annotation = made_.calls[&call];
    add_input(annotation, first, input_spec());
    for (Node* input : inputs) {
      if (input != first) add_input(annotation, input, TensorUse{first, &call});
    }
    annotation.output = TensorUse{first, &call};
    made_.reasons.erase(&call);
  }

  static bool has_floats(const Node* node) {
    return node->tensor() != nullptr && is_float(node->tensor()->dtype);
  }

  void propagate() {
    for (Node& node : program_.graph->nodes()) {
      if (!calls_one_of(&node, kPropagating) || is_annotated(&node) || node.args().empty())
        continue;
      Node* input = node.args()[0].node();
      if (input == nullptr || output_of(input) == nullptr) continue;
      if (std::string reason = kept_float(node); !reason.empty()) {
        skip(node, std::move(reason));
        continue;
      }
      Annotation& annotation = made_.calls[&node];
      add_input(annotation, input, TensorUse{input, nullptr});
      annotation.output = TensorUse{input, nullptr};
      made_.reasons.erase(&node);
    }
  }

  const ExportedProgram& program_;
  const Int8Options& options_;
  const std::map<const Node*, std::string>* excluded_ = nullptr;
  std::vector<KnownRule> rules_;
  Int8Scheme scheme_;  // of the current pass
  Filter filter_;
  Annotations made_;
};

}  // namespace

bool is_stored(const ExportedProgram& program, const Node& node) {
  if (node.kind() != Node::Kind::kPlaceholder) return false;
  const InputSpec* spec = program.input_of(node.name());
  return spec != nullptr && program.data_of(*spec) != nullptr;
}

bool keeps_scale(const Node& call) { return calls_one_of(&call, kPropagating); }

Annotations annotate(const ExportedProgram& program, const Int8Options& options,
                     const std::map<const Node*, std::string>& excluded) {
  return Annotator(program, options, excluded).run();
}

}  // namespace vitrine::aot
