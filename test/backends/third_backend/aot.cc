#include "test/backends/third_backend/aot.h"

#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "aot/graph/aot_error.h"
#include "aot/lowering/partition_nodes.h"
#include "test/backends/third_backend/payload_format.h"

namespace third {
namespace {

using vitrine::aot::Argument;
using vitrine::aot::Node;
using vitrine::aot::TensorSpec;

bool is_add(const Node& node) { return node.target().is("aten.add.Tensor"); }

// Null: the call is taken.
const char* refusal(const Node& node) {
  const bool adds = is_add(node);
  if (!adds && !node.target().is("aten.relu.default")) return "only sums and relu are taken";
  if (!node.kwargs().empty() || node.args().size() != (adds ? 2 : 1)) return "it is not plain";
  for (const Argument& operand : node.args()) {
    const TensorSpec* spec = operand.node() == nullptr ? nullptr : operand.node()->tensor();
    if (spec == nullptr || spec->dtype != vitrine::ScalarType::kFloat || !spec->is_static()) {
      return "an operand is not an f32 tensor of fixed sizes";
    }
    if (node.tensor() == nullptr || spec->sizes != node.tensor()->sizes) {
      return "its operands are broadcast";
    }
  }
  return nullptr;
}

uint32_t elements_of(const Node& node) {
  int64_t count = 1;
  for (const vitrine::aot::SymInt& size : node.tensor()->sizes) count *= size.value();
  return static_cast<uint32_t>(count);
}

}  // namespace

std::string Lowering::id() const { return kBackendId; }

vitrine::aot::PreprocessResult Lowering::preprocess(
    vitrine::aot::ExportedProgram& program, std::span<const vitrine::aot::CompileSpec>) const {
  std::unordered_map<const Node*, uint32_t> value_of;
  std::vector<uint32_t> elements, operators, outputs;
  uint32_t num_inputs = 0;
  for (const Node& node : program.graph->nodes()) {
    if (node.kind() == Node::Kind::kOutput) continue;
    if (node.is_call()) {
      if (const char* why = refusal(node)) throw vitrine::aot::AotError(node.name() + ": " + why);
      const auto operand = [&](size_t i) { return value_of.at(node.arg(i)->node()); };
      const Kind kind = is_add(node) ? Kind::kAdd : Kind::kRelu;
      const uint32_t words[] = {static_cast<uint32_t>(kind), operand(0),
                                kind == Kind::kAdd ? operand(1) : 0, node.meta.debug_handle};
      operators.insert(operators.end(), std::begin(words), std::end(words));
    } else {
      ++num_inputs;
    }
    value_of.emplace(&node, static_cast<uint32_t>(elements.size()));
    elements.push_back(elements_of(node));
  }
  for (const Argument& output : *program.graph->output()->need(0).list()) {
    outputs.push_back(value_of.at(output.node()));
  }
  std::vector<uint32_t> words = {kMagic, num_inputs, static_cast<uint32_t>(operators.size() / 4),
                                 static_cast<uint32_t>(outputs.size())};
  for (const auto* part : {&elements, &operators, &outputs}) {
    words.insert(words.end(), part->begin(), part->end());
  }
  // Identifiers are the debug handles: the profile reads them and needs no map.
  vitrine::aot::PreprocessResult result;
  result.processed_bytes.resize(words.size() * sizeof(uint32_t));
  std::memcpy(result.processed_bytes.data(), words.data(), result.processed_bytes.size());
  return result;
}

vitrine::aot::PartitionResult Partitioner::partition(vitrine::aot::ExportedProgram& program) const {
  vitrine::aot::PartitionResult result;
  std::unordered_set<const Node*> taken;
  for (const Node& node : program.graph->nodes()) {
    if (!node.is_call()) continue;
    if (const char* why = refusal(node)) {
      result.rejections.push_back({why, "", &node});
    } else {
      taken.insert(&node);
    }
  }
  const auto backend = std::make_shared<Lowering>(input_padding_);
  for (const auto& part : vitrine::aot::partition_nodes(*program.graph, taken)) {
    const std::string tag = "third" + std::to_string(part.id);
    for (Node* node : part.nodes) node->meta.delegation_tag = tag;
    result.tags[tag] = {backend, {}};
  }
  return result;
}

}  // namespace third
