// A delegate's program and notes about its nodes, which the passes prepare for XNNPACK.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "aot/graph/exported_program.h"
#include "backends/xnnpack/aot/payload_graph.h"

namespace vitrine::aot::xnnpack {

struct NodeNotes {
  std::vector<uint32_t> handles;  // debug handles of the nodes that were merged into this node
  std::optional<Bounds> bounds;   // bounds of a fused activation
};

class Preprocessing {
 public:
  // The passes change `program`, which must outlive this object.
  explicit Preprocessing(ExportedProgram& program);

  ExportedProgram& program() { return program_; }
  Graph& graph() { return *program_.graph; }
  NodeNotes& notes(const Node& node) { return notes_[&node]; }
  // The output specs that the enclosing program expects. The passes do not change these specs.
  const std::vector<TensorSpec>& outputs() const { return outputs_; }

  // Returns a float constant as row-major f32. Throws AotError for other nodes and other dtypes.
  std::vector<float> floats(const Node& node) const;
  // Adds a constant, which is stored in the same file as the constant `source`.
  Node* add_constant(std::string_view name, std::vector<int64_t> sizes, ScalarType dtype,
                     const std::vector<float>& numbers, const Node& source);

  // Gives `into` the source nodes of `from` in addition to its own.
  void absorb(const Node& into, const Node& from);
  // Inserts a call before `at`, without a debug handle.
  Node* insert(Node& at, std::string_view edge_target, ArgumentList args, TensorSpec spec);
  // Replaces and erases `node`. Its users and the signature use `by` instead.
  void replace(Node& node, Node& by);
  // Removes unused calls, and unused placeholders with their data.
  void remove_dead_code();

 private:
  ExportedProgram& program_;
  std::vector<TensorSpec> outputs_;
  std::unordered_map<const Node*, NodeNotes> notes_;
};

// Calls visit(node) for each call. `visit` may erase the node and insert nodes before it.
template <class Visit>
void each_call(Graph& graph, Visit&& visit) {
  for (Node* node = graph.nodes().empty() ? nullptr : &graph.nodes().front(); node != nullptr;) {
    Node* next = node->next();
    if (node->is_call()) visit(*node);
    node = next;
  }
}

// ---- The passes in running order. Each pass has a file in passes/.

// Replaces get_attr nodes of tensors, which occur only in branches, with constants.
void lift_attributes(Preprocessing& p);
// Removes copies that change nothing, except a copy from an input to an output.
void remove_identity_copies(Preprocessing& p);
// Turns addmm and mm with a transposed parameter into linear.
void restore_linear(Preprocessing& p);
// Folds batch norms into the weights of the convolutions and linear calls before them.
void fold_batch_norms(Preprocessing& p);
// Turns the remaining batch norms into depthwise 1x1 convolutions.
void batch_norms_to_convolutions(Preprocessing& p);
// Returns the bounds of a relu or hardtanh call. Empty for other nodes.
std::optional<Bounds> activation_bounds(const Node& node);
// Turns an activation into bounds of the node before it, if no other call uses that node.
void fuse_activations(Preprocessing& p);
// Splits concatenations of more than five tensors into chains.
void split_concatenations(Preprocessing& p);
// Turns max.dim into amax if only the values of max.dim are used.
void max_dims_to_amax(Preprocessing& p);
// Quantizes the result of a zero padding before a statically quantized convolution.
void quantize_paddings(Preprocessing& p);

// Runs all passes. AotErrors name the pass and the node.
void run_passes(Preprocessing& p);

}  // namespace vitrine::aot::xnnpack
