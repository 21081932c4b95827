#include "backends/xnnpack/aot/preprocessing.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "aot/graph/aot_error.h"
#include "aot/graph/lint.h"
#include "aot/graph/pass.h"
#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/weights.h"
#include "vitrine/half.h"

namespace vitrine::aot::xnnpack {
namespace {

struct NamedPass {
  const char* name;
  void (*run)(Preprocessing& p);
};
constexpr std::array kPasses = {
    NamedPass{"lift_attributes", lift_attributes},
    NamedPass{"remove_identity_copies", remove_identity_copies},
    NamedPass{"restore_linear", restore_linear},
    NamedPass{"fold_batch_norms", fold_batch_norms},
    NamedPass{"batch_norms_to_convolutions", batch_norms_to_convolutions},
    NamedPass{"fuse_activations", fuse_activations},
    NamedPass{"split_concatenations", split_concatenations},
    NamedPass{"max_dims_to_amax", max_dims_to_amax},
    NamedPass{"quantize_paddings", quantize_paddings},
};

}  // namespace

Preprocessing::Preprocessing(ExportedProgram& program) : program_(program) {
  const ArgumentList* results = program.graph->output()->need(0).list();
  if (results == nullptr) throw AotError("the graph's output is not a list");
  for (const Argument& result : *results) {
    const Node* node = result.node();
    outputs_.push_back(node != nullptr && node->tensor() != nullptr ? *node->tensor()
                                                                    : TensorSpec());
  }
}

std::vector<float> Preprocessing::floats(const Node& node) const {
  const TensorData* data = static_data(program_, &node);
  if (data == nullptr) throw AotError(fmt::format("node {}: it is not a constant", node.name()));
  std::optional<std::vector<float>> numbers = floats_of(*data);
  if (numbers.has_value()) return std::move(*numbers);
  throw AotError(fmt::format("node {}: the data are {}, not floats", node.name(),
                             scalar_type_name(data->dtype)));
}

Node* Preprocessing::add_constant(std::string_view name, std::vector<int64_t> sizes,
                                  ScalarType dtype, const std::vector<float>& numbers,
                                  const Node& source) {
  const std::optional<Datatype> type = float_datatype(dtype);
  if (!type) {
    throw AotError(fmt::format("constant {}: the dtype is {}, expected f32, f16 or bf16", name,
                               scalar_type_name(dtype)));
  }
  Node* node = program_.add_constant(
      name, make_tensor_data(dtype, std::move(sizes), float_bytes(*type, numbers)));
  node->meta.external_tag = source.meta.external_tag;
  return node;
}

void Preprocessing::absorb(const Node& into, const Node& from) {
  std::vector<uint32_t> handles = notes_[&from].handles;
  if (from.meta.debug_handle != 0) handles.push_back(from.meta.debug_handle);
  std::vector<uint32_t>& all = notes_[&into].handles;
  all.insert(all.end(), handles.begin(), handles.end());
}

Node* Preprocessing::insert(Node& at, std::string_view edge_target, ArgumentList args,
                            TensorSpec spec) {
  Node* node = graph().call(Target::of(edge_target, Dialect::kEdge), std::move(args), {}, &at);
  node->meta.value = std::move(spec);
  node->meta.origin = at.meta.origin;
  return node;
}

void Preprocessing::replace(Node& node, Node& by) {
  notes_.erase(&node);
  replace_node(program_, node, by);
}

void Preprocessing::remove_dead_code() {
  std::vector<Node*> dead;
  for (Node* node = &graph().nodes().back(); node != nullptr;) {
    Node* previous = node->previous();
    if (node->is_call() && node->users().empty() && is_pure(*node)) {
      notes_.erase(node);
      graph().erase(node);
    }
    node = previous;
  }
  for (Node* node : graph().placeholders()) {
    if (!node->users().empty() || static_data(program_, node) == nullptr) continue;
    notes_.erase(node);
    program_.remove_input(node);
  }
}

void run_passes(Preprocessing& p) {
  for (const NamedPass& pass : kPasses) {
    try {
      pass.run(p);
      p.remove_dead_code();
      lint(p.program());
    } catch (const AotError& error) {
      throw AotError(fmt::format("{}: {}", pass.name, error.what()));
    }
  }
}

}  // namespace vitrine::aot::xnnpack
