// A delegate's program during preprocessing for XNNPACK: the graph, and the passes' facts about its
// nodes.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "aot/graph/exported_program.h"
#include "backends/xnnpack/aot/blob_graph.h"

namespace vitrine::aot::xnnpack {

struct NodeNotes {
  std::vector<uint32_t> handles;  // of nodes that went into this one, besides its own
  std::optional<Bounds> bounds;   // of an activation that was fused
};

class Preprocessing {
 public:
  // Owns neither; `program` is changed.
  explicit Preprocessing(ExportedProgram& program);

  ExportedProgram& program() { return program_; }
  Graph& graph() { return *program_.graph; }
  NodeNotes& notes(const Node& node) { return notes_[&node]; }
  // As the owning program expects them, whatever passes make of their nodes. By position.
  const std::vector<TensorSpec>& outputs() const { return outputs_; }

  // The numbers of a placeholder as f32, row by row. AotError if it has none or they are not
  // floats.
  std::vector<float> floats(const Node& node) const;
  // `source`: the constant that it is made of, whose place it goes to.
  Node* add_constant(std::string_view name, std::vector<int64_t> sizes, ScalarType dtype,
                     const std::vector<float>& numbers, const Node& source);

  // `into` stands for `from` too, and for what that stood for.
  void absorb(const Node& into, const Node& from);
  // A new call before `at`, without a source of its own.
  Node* insert(Node& at, std::string_view edge_target, ArgumentList args, TensorSpec spec);
  // `by` takes the node's users and its place in the signature; the node goes.
  void replace(Node& node, Node& by);
  // Placeholders that nothing uses any more go with the data.
  void remove_dead_code();

 private:
  ExportedProgram& program_;
  std::vector<TensorSpec> outputs_;
  std::unordered_map<const Node*, NodeNotes> notes_;
};

// Calls visit(node) for each call; it may erase the node and insert others before it.
template <class Visit>
void each_call(Graph& graph, Visit&& visit) {
  for (Node* node = graph.nodes().empty() ? nullptr : &graph.nodes().front(); node != nullptr;) {
    Node* next = node->next();
    if (node->is_call()) visit(*node);
    node = next;
  }
}

// ---- The passes, in order; one file each (passes/).

// Numbers that a branch holds itself become constants of the delegate.
void lift_attributes(Preprocessing& p);
// Copies that change nothing. A copy of an input that is an output stays.
void remove_identity_copies(Preprocessing& p);
// addmm and mm with a transposed parameter -> linear.
void restore_linear(Preprocessing& p);
// Batch norms behind convolutions and linear calls go into their weights.
void fold_batch_norms(Preprocessing& p);
// The others become depthwise convolutions of one by one.
void batch_norms_to_convolutions(Preprocessing& p);
// The bounds of a call of relu or hardtanh; empty for others.
std::optional<Bounds> activation_bounds(const Node& node);
// They become bounds of what makes their input, if they alone use it.
void fuse_activations(Preprocessing& p);
// Concatenations of more than five tensors -> chains.
void split_concatenations(Preprocessing& p);
// max.dim of which only the values are used -> amax.
void max_dims_to_amax(Preprocessing& p);
// A zero padding between a dequantise call and a convolution is quantised too.
void quantise_paddings(Preprocessing& p);

// All of them. AotErrors name pass and node.
void run_passes(Preprocessing& p);

}  // namespace vitrine::aot::xnnpack
