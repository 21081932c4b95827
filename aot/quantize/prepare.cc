// This file is compiled with -ffp-contract=off, because PyTorch rounds each product and each sum.
#include "aot/quantize/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "aot/graph/pass.h"
#include "aot/operators/call.h"
#include "aot/quantize/annotations.h"
#include "aot/quantize/stored_floats.h"
#include "vitrine/half.h"

namespace vitrine::aot {
namespace {

enum class LayerKind : uint8_t { kConvolution, kTransposedConvolution, kLinear };

struct LayerRow {
  std::string_view target;
  LayerKind kind;
};
constexpr LayerRow kLayers[] = {
    {"aten.conv1d.default", LayerKind::kConvolution},
    {"aten.conv1d.padding", LayerKind::kConvolution},
    {"aten.conv2d.default", LayerKind::kConvolution},
    {"aten.conv2d.padding", LayerKind::kConvolution},
    {"aten.conv3d.default", LayerKind::kConvolution},
    {"aten.conv3d.padding", LayerKind::kConvolution},
    {"aten.conv_transpose1d.default", LayerKind::kTransposedConvolution},
    {"aten.conv_transpose2d.input", LayerKind::kTransposedConvolution},
    {"aten.conv_transpose3d.input", LayerKind::kTransposedConvolution},
    {"aten.linear.default", LayerKind::kLinear}};

constexpr std::string_view kNorms[] = {"aten.batch_norm.default",
                                       "aten._native_batch_norm_legit_no_training.default"};

const LayerRow* layer_row(const Node* node) {
  if (node == nullptr || !node->is_call()) return nullptr;
  const auto found = std::ranges::find_if(
      kLayers, [&](const LayerRow& row) { return node->target().is(row.target); });
  return found == std::end(kLayers) ? nullptr : &*found;
}

// Rounds a value to the dtype in which PyTorch computes it.
float rounded_to(ScalarType dtype, float value) {
  if (dtype == ScalarType::kHalf) return static_cast<float>(static_cast<Half>(value));
  if (dtype == ScalarType::kBFloat16) return static_cast<float>(static_cast<BFloat16>(value));
  return value;
}

// The values of a batch norm, one element per channel.
struct NormValues {
  std::vector<float> factor;  // the norm's weight
  std::vector<float> offset;  // the norm's bias
  std::vector<float> mean;
  std::vector<float> root;  // 1 / sqrt(variance + eps)
};

class NormFolder {
 public:
  explicit NormFolder(ExportedProgram& program) : program_(program) {}

  void visit(Node& norm) {
    Node* layer = norm.args().empty() ? nullptr : norm.args()[0].node();
    const LayerRow* row = layer_row(layer);
    if (row == nullptr || layer->users().size() != 1) return;
    if (row->kind == LayerKind::kLinear &&
        (layer->need_node(0).tensor() == nullptr || layer->need_node(0).tensor()->rank() > 2)) {
      return;
    }
    const std::vector<Node*> results = results_of(norm);
    if (results.empty()) return;
    const Call call(*layer);
    Node* weight = call.optional_node("weight");
    Node* bias = call.optional_node("bias");
    if (!is_float_weight(weight) || (bias != nullptr && !is_float_weight(bias))) return;
    if (!fold(norm, *layer, *row, *weight, bias)) return;
    const bool has_items = results.front() != &norm;
    for (Node* result : results) {
      layer->meta.value = result->meta.value;
      replace_node(program_, *result, *layer);
    }
    if (has_items) norm.graph().erase(&norm);
  }

 private:
  // Returns the nodes whose value is the normalized tensor: the norm or its getitem nodes. Empty if
  // a node uses another result of the norm.
  static std::vector<Node*> results_of(Node& norm) {
    if (norm.target().is(kNorms[0])) return {&norm};
    for (const Node* user : norm.users()) {
      const int64_t* index = user->calls(getitem()) ? user->need(1).get<int64_t>() : nullptr;
      if (index == nullptr || *index != 0) return {};
    }
    return {norm.users().begin(), norm.users().end()};
  }

  const TensorData* data_of(const Node& node) const {
    return program_.data_of(*program_.input_of(node.name()));
  }
  bool is_float_weight(const Node* node) const {
    return node != nullptr && is_stored(program_, *node) && is_float(data_of(*node)->dtype);
  }

  // Returns the values of a batch norm. Empty if the values are not stored, or if the norm does not
  // have `channels` channels.
  std::optional<NormValues> values_of(const Node& norm, size_t channels, bool needs_affine) const {
    const Call call(norm);
    NormValues values;
    struct Row {
      const char* name;
      std::vector<float>& to;
      float missing;
      bool is_needed;
    };
    const Row rows[] = {{"weight", values.factor, 1, needs_affine},
                        {"bias", values.offset, 0, needs_affine},
                        {"running_mean", values.mean, 0, true},
                        {"running_var", values.root, 0, true}};
    for (const Row& row : rows) {
      Node* node = call.optional_node(row.name);
      if (node == nullptr && row.is_needed) return {};
      if (node == nullptr) {
        row.to.assign(channels, row.missing);
        continue;
      }
      if (!is_float_weight(node)) return {};
      row.to = floats_of(*data_of(*node));
      if (row.to.size() != channels) return {};
    }
    const auto eps = static_cast<float>(call.real("eps"));
    for (float& each : values.root) each = 1.0F / std::sqrt(each + eps);
    return values;
  }

  bool fold(const Node& norm, Node& layer, const LayerRow& row, Node& weight, Node* bias) {
    // Layers that share both the weight and the norm also share the folded weight.
    std::vector<const Node*> key = {&weight, bias};
    for (size_t i = 1; i < 5; ++i) key.push_back(norm.need(i).node());
    if (const auto found = folded_.find(key); found != folded_.end()) {
      set_weights(layer, *found->second.first, *found->second.second);
      return true;
    }
    const TensorData data = *data_of(weight);
    const size_t axis = row.kind == LayerKind::kTransposedConvolution ? 1 : 0;
    if (data.sizes.size() <= axis || data.numel() == 0) return false;
    const int64_t groups = axis == 1 ? Call(layer).integer("groups") : 1;
    const auto per_group = static_cast<size_t>(data.sizes[axis]);
    const size_t channels = per_group * static_cast<size_t>(groups);
    if (groups < 1 || (axis == 1 && data.sizes[0] % groups != 0)) return false;
    const auto values = values_of(norm, channels, row.kind == LayerKind::kLinear);
    if (!values) return false;
    std::vector<float> biases(channels, 0);
    if (bias != nullptr) biases = floats_of(*data_of(*bias));
    if (biases.size() != channels) return false;

    const ScalarType dtype = data.dtype;
    const auto r = [&](float value) { return rounded_to(dtype, value); };
    const bool is_linear = row.kind == LayerKind::kLinear;
    std::vector<float> scale(channels);
    for (size_t c = 0; c < channels; ++c) {
      const float root = r(values->root[c]);
      scale[c] = r(values->factor[c] * root);
      const float centered = r(biases[c] - values->mean[c]);
      const float product =
          is_linear ? r(centered * scale[c]) : r(r(centered * root) * values->factor[c]);
      biases[c] = r(product + values->offset[c]);
    }
    std::vector<float> weights = floats_of(data);
    size_t inner = 1;
    for (size_t i = axis + 1; i < data.sizes.size(); ++i)
      inner *= static_cast<size_t>(data.sizes[i]);
    const size_t rows_per_group =
        axis == 1 ? static_cast<size_t>(data.sizes[0] / groups) : weights.size();
    for (size_t i = 0; i < weights.size(); ++i) {
      const size_t column = (i / inner) % per_group;
      const size_t group = axis == 1 ? i / inner / per_group / rows_per_group : 0;
      weights[i] = r(weights[i] * scale[group * per_group + column]);
    }
    const auto length = static_cast<int64_t>(channels);
    const std::string name = program_.input_of(weight.name())->target;
    TensorData folded_bias = tensor_of(dtype, {length}, biases);
    Node* new_bias = bias == nullptr ? add(name + "_bias", weight, std::move(folded_bias))
                                     : put(*bias, std::move(folded_bias));
    Node* new_weight = put(weight, tensor_of(dtype, data.sizes, weights));
    folded_[key] = {new_weight, new_bias};
    set_weights(layer, *new_weight, *new_bias);
    return true;
  }

  // Replaces the data of a weight. If other calls need the old data, adds a new weight.
  Node* put(Node& weight, TensorData data) {
    const InputSpec spec = *program_.input_of(weight.name());
    const bool is_shared =
        weight.users().size() > 1 ||
        std::ranges::count(program_.signature.inputs, spec.target, &InputSpec::target) > 1;
    if (is_shared) return add(spec.target, weight, std::move(data));
    weight.meta.value =
        contiguous_spec(data.dtype, std::vector<SymInt>(data.sizes.begin(), data.sizes.end()));
    (is_in_state(spec) ? program_.state_dict : program_.constants)[spec.target] = std::move(data);
    return &weight;
  }

  // Adds a parameter before the input `before`. Appends a suffix to a name that is in use.
  Node* add(std::string target, Node& before, TensorData data) {
    while (program_.state_dict.contains(target)) target += "_folded";
    std::string name = "p_" + target;
    std::ranges::replace(name, '.', '_');
    Node* node = program_.graph->placeholder(name, &before);
    node->meta.value =
        contiguous_spec(data.dtype, std::vector<SymInt>(data.sizes.begin(), data.sizes.end()));
    InputSpec input;
    input.kind = InputSpec::Kind::kParameter;
    input.name = node->name();
    input.target = target;
    program_.state_dict.emplace(std::move(target), std::move(data));
    auto& inputs = program_.signature.inputs;
    inputs.insert(std::ranges::find(inputs, before.name(), &InputSpec::name), std::move(input));
    return node;
  }

  static void set_weights(Node& layer, Node& weight, Node& bias) {
    ArgumentList args = layer.args();
    args.at(1) = &weight;
    if (args.size() < 3) args.resize(3);
    args[2] = &bias;
    ArgumentMap kwargs = layer.kwargs();
    std::erase_if(kwargs, [](const auto& each) { return each.first == "bias"; });
    layer.set_args(std::move(args));
    layer.set_kwargs(std::move(kwargs));
  }

  ExportedProgram& program_;
  std::map<std::vector<const Node*>, std::pair<Node*, Node*>> folded_;
};

void store_scalar(ExportedProgram& program, Node& call, size_t index) {
  const Argument& given = call.args()[index];
  const double* real = given.get<double>();
  const int64_t* integer = given.get<int64_t>();
  if (real == nullptr && integer == nullptr) return;
  const auto value = static_cast<float>(real != nullptr ? *real : static_cast<double>(*integer));
  size_t number = 0;
  const auto name = [&] { return fmt::format("_tensor_constant_{}", number); };
  while (program.constants.contains(name()) || program.graph->find(name()) != nullptr) ++number;
  call.set_arg(index, program.add_constant(name(), tensor_of(ScalarType::kFloat, {}, {value})));
}

}  // namespace

void remove_unused_weights(ExportedProgram& program) {
  for (Node* node : program.graph->placeholders()) {
    if (node->users().empty() && is_stored(program, *node) &&
        !program.is_mutated(*program.input_of(node->name()))) {
      program.remove_input(node);
    }
  }
}

void fold_batch_norms_into_layers(ExportedProgram& program) {
  NormFolder folder(program);
  std::vector<Node*> norms;  // collected first, since folding changes the graph
  for (Node& node : program.graph->nodes()) {
    const bool is_norm = node.is_call() && std::ranges::any_of(kNorms, [&](auto name) {
                           return node.target().is(name);
                         });
    if (is_norm) norms.push_back(&node);
  }
  if (norms.empty()) return;
  for (Node* norm : norms) {
    const std::string name = norm->name();  // a copy, since the node may be erased
    run_at_node(name, [&] { folder.visit(*norm); });
  }
  remove_unused_weights(program);
}

void store_scalars(ExportedProgram& program) {
  for (Node& node : program.graph->nodes()) {
    if (!node.is_call() ||
        (!node.target().is("aten.add.Tensor") && !node.target().is("aten.mul.Tensor"))) {
      continue;
    }
    const bool has_float = std::ranges::any_of(node.args(), [](const Argument& arg) {
      return arg.node() != nullptr && arg.node()->tensor() != nullptr &&
             is_float(arg.node()->tensor()->dtype);
    });
    if (!has_float) continue;
    for (size_t i = 0; i < node.args().size(); ++i) store_scalar(program, node, i);
  }
}

}  // namespace vitrine::aot
