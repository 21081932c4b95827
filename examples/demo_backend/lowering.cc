#include "demo_backend/lowering.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "aot/graph/aot_error.h"
#include "aot/lowering/constant_tags.h"
#include "aot/lowering/delegate_mapping_builder.h"
#include "aot/lowering/partition_nodes.h"
#include "aot/operators/call.h"
#include "demo_backend/format.h"

namespace demo {
namespace {

using vitrine::aot::AotError;
using vitrine::aot::Call;
using vitrine::aot::ExportedProgram;
using vitrine::aot::Graph;
using vitrine::aot::InputSpec;
using vitrine::aot::Node;
using vitrine::aot::OutputSpec;
using vitrine::aot::PartitionResult;
using vitrine::aot::PreprocessResult;
using vitrine::aot::Rejection;
using vitrine::aot::SymInt;
using vitrine::aot::TensorData;
using vitrine::aot::TensorSpec;

// The reason why a node cannot be delegated, or nullopt.
using Verdict = std::optional<Rejection>;

bool is_call_of(const Node& node, std::string_view op) {
  return node.is_call() && node.target().is(op);
}
bool is_convolution(const Node& node) { return is_call_of(node, "aten.convolution.default"); }
bool is_relu(const Node& node) { return is_call_of(node, "aten.relu.default"); }
bool is_tan(const Node& node) { return is_call_of(node, "aten.tan.default"); }

Verdict check_tensor(const Node& node) {
  const TensorSpec* tensor = node.tensor();
  if (tensor == nullptr) return Rejection{node.name() + " is not a tensor", ""};
  const std::string text = node.name() + " is " + to_text(*tensor);
  if (tensor->dtype != vitrine::ScalarType::kFloat) {
    return Rejection{text + "; only f32 is supported", "convert the model to float32"};
  }
  if (!tensor->is_static()) {
    return Rejection{text + "; its sizes must be fixed", "export with static shapes"};
  }
  if (tensor->rank() > kMaxRank || !std::ranges::is_sorted(dim_order_of(*tensor))) {
    return Rejection{text + "; it must be row-major", "export with contiguous inputs"};
  }
  return std::nullopt;
}

bool is_constant(const ExportedProgram& program, const Node& node) {
  // Placeholders of subgraphs may have the same names as inputs of the program.
  const bool is_input =
      node.kind() == Node::Kind::kPlaceholder && &node.graph() == program.graph.get();
  const InputSpec* spec = is_input ? program.input_of(node.name()) : nullptr;
  return spec != nullptr && program.data_of(*spec) != nullptr && !program.is_mutated(*spec);
}

Verdict check_input(const ExportedProgram& program, const Node* input) {
  if (input == nullptr) return Rejection{"its input is not a tensor", ""};
  if (is_constant(program, *input)) {
    return Rejection{"its input is a constant", "fold constants before delegation"};
  }
  return check_tensor(*input);
}

Verdict check_conv_relu(const ExportedProgram& program, const Node& convolution) {
  if (convolution.users().size() != 1 || !is_relu(*convolution.users()[0])) {
    return Rejection{"its result must have one user, a relu", "add a relu after the convolution"};
  }
  const Call call(convolution);
  if (call.boolean("transposed")) return Rejection{"it is transposed", ""};
  for (const char* name : {"weight", "bias"}) {
    const vitrine::aot::Argument* argument = call.find(name);
    if (argument == nullptr) continue;
    const Node* weight = argument->node();
    if (weight == nullptr || !is_constant(program, *weight)) {
      return Rejection{"weight and bias must be constants",
                       "store weight and bias as parameters of the model"};
    }
    if (Verdict verdict = check_tensor(*weight)) return verdict;
  }
  const Node* input = call.optional_node("input");
  if (Verdict verdict = check_input(program, input)) return verdict;
  for (const Node* each : {input, &convolution, static_cast<const Node*>(convolution.users()[0])}) {
    if (Verdict verdict = check_tensor(*each)) return verdict;
    if (each->tensor()->rank() != 4) return Rejection{"only 2-d convolutions are supported", ""};
  }
  return std::nullopt;
}

Verdict check_call(const ExportedProgram& program, const Node& node) {
  if (is_convolution(node)) return check_conv_relu(program, node);
  if (!is_relu(node) && !is_tan(node)) {
    return Rejection{"the demo backend supports only tan, and convolution followed by relu", ""};
  }
  const Node* input = Call(node).optional_node("self");
  if (is_relu(node)) {
    const bool is_fused =
        input != nullptr && is_convolution(*input) && !check_conv_relu(program, *input);
    return is_fused ? Verdict() : Rejection{"it does not follow a delegated convolution", ""};
  }
  Verdict verdict = check_input(program, input);
  return verdict ? verdict : check_tensor(node);
}

void tag_calls(const ExportedProgram& program, Graph& graph, PartitionResult& result) {
  std::unordered_set<const Node*> supported;
  vitrine::aot::PartitionNodesOptions options;
  for (Node& node : graph.nodes()) {
    if (!node.is_call() || node.calls(vitrine::aot::getitem())) continue;
    if (const Verdict verdict = check_call(program, node)) {
      result.rejections.push_back({verdict->rule, verdict->remedy, &node});
    } else if (is_convolution(node)) {
      options.groups.push_back({&node, node.users()[0]});
    } else if (is_tan(node)) {
      supported.insert(&node);
    }
  }
  // Tags must be unique in the whole program, so their numbers continue across subgraphs.
  for (const auto& partition : partition_nodes(graph, supported, options)) {
    const std::string tag = std::string("tag").append(std::to_string(result.tags.size()));
    result.tags[tag] = {std::make_shared<DemoLowering>(), {}};
    for (Node* node : partition.nodes) node->meta.delegation_tag = tag;
  }
  for (const auto& [name, subgraph] : graph.subgraphs()) tag_calls(program, *subgraph, result);
}

class Writer {
 public:
  explicit Writer(const ExportedProgram& program) : program_(program) {}

  PreprocessResult write() {
    for (const Node& node : program_.graph->nodes()) {
      if (node.kind() == Node::Kind::kPlaceholder && !is_constant(program_, node)) {
        add_value(node, &node);
      }
    }
    const uint32_t num_inputs = num_values_;
    for (const Node& node : program_.graph->nodes()) {
      if (node.is_call()) add_call(node);
    }
    const auto& results = *program_.graph->output()->need(0).list();
    std::string text = std::to_string(num_values_ - num_inputs).append("#").append(text_);
    text.resize((text.size() + 4) / 4 * 4);  // appends 1 to 4 zero bytes
    PreprocessResult result;
    append(result.payload, std::as_bytes(std::span(text)));
    append_words(result.payload, {kMagic, num_inputs, static_cast<int64_t>(results.size())});
    append(result.payload, shapes_);
    for (size_t i = 0; i < results.size(); ++i) {
      const bool is_result = results[i].node() != nullptr &&
                             program_.signature.outputs.at(i).kind == OutputSpec::Kind::kUserOutput;
      if (!is_result)
        throw AotError("the partition has an output that none of its operators computes");
      append_words(result.payload, {value_of(*results[i].node())});
    }
    append(result.payload, operators_);
    result.delegate_map = mapping_.mapping();
    return result;
  }

 private:
  static void append(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
    to.insert(to.end(), bytes.begin(), bytes.end());
  }

  // Appends little-endian words. All supported hosts are little-endian.
  static void append_words(std::vector<std::byte>& to, std::span<const int64_t> values) {
    for (const int64_t value : values) {
      if (value < 0 || value > INT32_MAX) {
        throw AotError(std::to_string(value).append(" is not a 31-bit number"));
      }
      const auto word = static_cast<uint32_t>(value);
      append(to, std::as_bytes(std::span(&word, 1)));
    }
  }
  static void append_words(std::vector<std::byte>& to, std::initializer_list<int64_t> values) {
    append_words(to, std::span(values.begin(), values.size()));
  }

  uint32_t value_of(const Node& node) const {
    const auto found = values_.find(&node);
    if (found == values_.end()) throw AotError(node.name() + " is not a value of the partition");
    return found->second;
  }

  // Adds a value with the shape of the node `shape`. The value is the result of the node
  // `computes`, unless `computes` is null.
  uint32_t add_value(const Node& shape, const Node* computes) {
    if (Verdict verdict = check_tensor(shape)) throw AotError(verdict->rule);
    append_words(shapes_, {static_cast<int64_t>(shape.tensor()->rank())});
    for (const SymInt& size : shape.tensor()->sizes) append_words(shapes_, {size.value()});
    if (computes != nullptr) values_[computes] = num_values_;
    return num_values_++;
  }

  // Returns the index of the operator's result among the values.
  uint32_t add_operator(OperatorKind kind, std::span<const Node* const> sources,
                        const Node* computes, std::initializer_list<int64_t> inputs) {
    const uint32_t id = std::get<uint32_t>(mapping_.insert(sources));
    text_.append(kOperators[static_cast<size_t>(kind)].name).append(",");
    text_.append(std::to_string(id)).append(",");
    append_words(operators_, inputs);
    return add_value(*sources.back(), computes);
  }

  void add_call(const Node& node) {
    if (const Verdict verdict = check_call(program_, node)) {
      throw AotError("node " + node.name() + ": " + node.target().name() + ": " + verdict->rule);
    }
    if (is_convolution(node)) add_conv_relu(node);
    if (is_tan(node)) add_tan(node);
  }

  void add_conv_relu(const Node& convolution) {
    const Call call(convolution);
    const std::array<const Node*, 2> sources = {&convolution, convolution.users()[0]};
    add_operator(OperatorKind::kConvRelu, sources, sources[1], {value_of(call.node("input"))});
    for (const char* name : {"stride", "padding", "dilation"}) {
      append_words(operators_, call.integers(name, 2));
    }
    const TensorData& weight = constant(call.node("weight"));
    append_words(operators_, {call.integer("groups")});
    append_words(operators_, weight.sizes);
    const Node* bias = call.optional_node("bias");
    append_words(operators_, {bias != nullptr ? 1 : 0});
    append(operators_, row_major_bytes(weight));
    if (bias != nullptr) append(operators_, row_major_bytes(constant(*bias)));
  }

  const TensorData& constant(const Node& parameter) const {
    return *program_.data_of(*program_.input_of(parameter.name()));
  }

  void add_tan(const Node& tan) {
    const std::array<const Node*, 1> sources = {&tan};
    const uint32_t input = value_of(Call(tan).node("self"));
    const uint32_t sine = add_operator(OperatorKind::kSin, sources, nullptr, {input});
    const uint32_t cosine = add_operator(OperatorKind::kCos, sources, nullptr, {input});
    add_operator(OperatorKind::kDiv, sources, &tan, {sine, cosine});
  }

  const ExportedProgram& program_;
  vitrine::aot::DelegateMappingBuilder mapping_{/*generated_identifiers=*/true};
  std::unordered_map<const Node*, uint32_t> values_;
  uint32_t num_values_ = 0;
  std::string text_;                  // names and identifiers of the operators
  std::vector<std::byte> shapes_;     // ranks and sizes of the values
  std::vector<std::byte> operators_;  // inputs and weights of the operators
};

}  // namespace

std::string DemoLowering::id() const { return kBackendId; }

PreprocessResult DemoLowering::preprocess(ExportedProgram& program,
                                          std::span<const vitrine::aot::CompileSpec>) const {
  return Writer(program).write();
}

PartitionResult DemoPartitioner::partition(ExportedProgram& program) const {
  PartitionResult result;
  tag_calls(program, *program.graph, result);
  vitrine::aot::tag_constants(program);
  return result;
}

}  // namespace demo
