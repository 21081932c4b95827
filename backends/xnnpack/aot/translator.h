// The state of one translation: values by node, and what is quantised.
#pragma once

#include <map>
#include <string_view>
#include <unordered_map>

#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/blob_graph.h"
#include "backends/xnnpack/aot/preprocessing.h"
#include "backends/xnnpack/aot/products.h"
#include "backends/xnnpack/aot/quantisation.h"

namespace vitrine::aot::xnnpack {

class Translator {
 public:
  explicit Translator(Preprocessing& p) : p_(p), parameters_(p.program()) {}

  BlobGraph run();

  // ---- For what the operators are translated with

  Preprocessing& preprocessing() { return p_; }
  BlobGraph& graph() { return blob_; }
  // A node that stands for `node`, with its handles and those of the dequantise and quantise calls
  // that become datatypes of its operands. Appended by `append`.
  BlobNode make(const Node& node, NodeKind kind);
  void append(BlobNode node) { blob_.nodes.push_back(std::move(node)); }
  // With the call's first argument before the inputs that `made` has, and its result as output.
  void append_call(Node& node, BlobNode made);
  // The value that `node` reads `input` as: quantised where `node` runs so.
  uint32_t input_of(const Node& node, Node& input);
  // The value that `node` makes.
  uint32_t output_of(const Node& node);
  // Another value like the one that `node` makes, of other dims.
  uint32_t output_like(const Node& node, std::vector<uint32_t> dims);
  // Sizes, for symbols the largest; [1] for a number.
  std::vector<uint32_t> dims_of(const Node& node) const;
  // `source`: the constant that the bytes are made of, whose place they go to; null if none.
  uint32_t add_constant(BlobValue value, std::vector<std::byte> bytes, const Node* source);
  // AotError if it is negative or too large.
  uint32_t size_of(const Node& node, int64_t number) const;
  // Whether it runs in int8.
  bool is_quantised(const Node& node) const { return quantised_results_.contains(&node); }
  [[noreturn]] void refuse(const Node& node, std::string_view why) const;

 private:
  void add_inputs();
  void add_outputs();
  // An input whose dims lie in another order than XNNPACK's two is brought into the logical one.
  void reorder_input(Node& node, uint32_t position);
  void translate_call(Node& node);
  void translate_quantise(Node& node);
  void translate_dequantise(Node& node);
  // The value of a node that holds numbers, or of a placeholder.
  uint32_t value_of(Node& node);
  uint32_t quantised_value(Node& quantised, const QuantParams& params);
  // The value of a dynamically quantised activation.
  uint32_t dynamic_value(Node& quantise, int32_t nonbatch_dims);
  Datatype float_datatype(const Node& node) const;

  Preprocessing& p_;
  Parameters parameters_;
  BlobGraph blob_;
  std::unordered_map<const Node*, uint32_t> values_;
  std::map<std::pair<const Node*, int32_t>, uint32_t> dynamic_values_;
  std::unordered_map<const Node*, Node*> quantised_results_;  // call -> its quantise call
};

}  // namespace vitrine::aot::xnnpack
