#include "backends/mapping_demo/aot/patterns.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/shapes/call.h"

namespace vitrine::mapping_demo {
namespace {

using aot::Node;
using aot::TensorSpec;

constexpr size_t kMaxRank = 16;

std::optional<Refusal> refusal_of_tensor(const Node& node) {
  const TensorSpec* tensor = node.tensor();
  if (tensor == nullptr) return Refusal{fmt::format("{} is not a tensor", node.name()), ""};
  if (tensor->dtype != ScalarType::kFloat) {
    return Refusal{
        fmt::format("{} is {}; only f32 is known", node.name(), scalar_type_name(tensor->dtype)),
        "convert the model to float32"};
  }
  if (!tensor->is_static()) {
    return Refusal{
        fmt::format("{} has sizes that are not fixed: {}", node.name(), aot::to_text(*tensor)),
        "export with static shapes"};
  }
  const std::vector<uint8_t> order = aot::dim_order_of(*tensor);
  if (tensor->rank() > kMaxRank || !std::ranges::is_sorted(order)) {
    return Refusal{fmt::format("{} is not row-major", node.name()),
                   "export with contiguous inputs"};
  }
  return std::nullopt;
}

bool is_constant(const aot::ExportedProgram& program, const Node& node) {
  // Subgraphs may have placeholders of the same names.
  const bool is_input =
      node.kind() == Node::Kind::kPlaceholder && &node.graph() == program.graph.get();
  const aot::InputSpec* spec = is_input ? program.input_of(node.name()) : nullptr;
  return spec != nullptr && program.data_of(*spec) != nullptr && !program.is_mutated(*spec);
}

}  // namespace

bool is_convolution(const Node& node) {
  return node.is_call() && node.target().is("aten.convolution.default");
}
bool is_relu(const Node& node) { return node.is_call() && node.target().is("aten.relu.default"); }
bool is_tan(const Node& node) { return node.is_call() && node.target().is("aten.tan.default"); }

const Node* relu_after(const Node& convolution) {
  if (convolution.users().size() != 1 || !is_relu(*convolution.users()[0])) return nullptr;
  return convolution.users()[0];
}

std::optional<Refusal> refusal_of_conv_relu(const aot::ExportedProgram& program,
                                            const Node& convolution) {
  const Node* relu = relu_after(convolution);
  if (relu == nullptr) {
    return Refusal{"its result must have one user, a relu", "put a ReLU after it"};
  }
  const aot::Call call(convolution);
  if (call.boolean("transposed")) return Refusal{"it is transposed", ""};
  for (const char* name : {"weight", "bias"}) {
    const aot::Argument* argument = call.find(name);
    if (argument == nullptr) continue;
    const Node* weight = argument->node();
    if (weight == nullptr || !is_constant(program, *weight)) {
      return Refusal{"weight and bias must be constants", "make them parameters of the model"};
    }
    if (auto refusal = refusal_of_tensor(*weight)) return refusal;
  }
  const Node* input = call.optional_node("input");
  if (input == nullptr) return Refusal{"its input is not a tensor", ""};
  for (const Node* each : {input, &convolution, relu}) {
    if (auto refusal = refusal_of_tensor(*each)) return refusal;
    if (each->tensor()->rank() != 4) return Refusal{"only 2-d convolutions are known", ""};
  }
  return std::nullopt;
}

std::optional<Refusal> refusal_of_tan(const Node& tan) {
  const Node* input = aot::Call(tan).optional_node("self");
  if (input == nullptr) return Refusal{"its input is not a tensor", ""};
  if (auto refusal = refusal_of_tensor(*input)) return refusal;
  return refusal_of_tensor(tan);
}

}  // namespace vitrine::mapping_demo
