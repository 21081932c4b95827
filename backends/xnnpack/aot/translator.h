#pragma once

#include <map>
#include <string_view>
#include <unordered_map>

#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/payload_graph.h"
#include "backends/xnnpack/aot/preprocessing.h"
#include "backends/xnnpack/aot/products.h"
#include "backends/xnnpack/aot/quantization.h"

namespace vitrine::aot::xnnpack {

class Translator {
 public:
  explicit Translator(Preprocessing& p) : p_(p), parameters_(p.program()) {}

  PayloadGraph run();

  // ---- Functions for translations.h

  Preprocessing& preprocessing() { return p_; }
  PayloadGraph& graph() { return graph_; }
  // Makes a payload node for `node`. Its debug handles include those of merged nodes and of the
  // quantize and dequantize calls around `node`. The caller adds the payload node with append().
  PayloadNode make(const Node& node, NodeKind kind);
  void append(PayloadNode node) { graph_.nodes.push_back(std::move(node)); }
  // Completes `made` and appends it to the graph. The first argument of `node` becomes the first
  // input of `made`, and the result of `node` becomes its output.
  void append_call(Node& node, PayloadNode made);
  // Returns the value that `node` reads for `input`. If `node` runs in int8 and `input` is a
  // dequantize call, this is the quantized value.
  uint32_t input_of(const Node& node, Node& input);
  uint32_t output_of(const Node& node);
  // Adds a value that differs from the output of `node` only in its dims.
  uint32_t output_like(const Node& node, std::vector<uint32_t> dims);
  // Returns the sizes of `node`, with the upper bound of each dynamic size. Returns [1] for rank 0.
  std::vector<uint32_t> dims_of(const Node& node) const;
  // Adds a constant that contains `bytes`. The constant is stored in the file of the constant
  // `source`, which may be null.
  uint32_t add_constant(PayloadValue value, std::vector<std::byte> bytes, const Node* source);
  // Returns fp32, fp16 or bf16. Throws AotError for other dtypes.
  Datatype datatype_of(const Node& node) const;
  // Throws AotError if `number` is not from 0 to 2^31 - 1.
  uint32_t size_of(const Node& node, int64_t number) const;
  // Returns true if `node` runs in int8 with constant parameters.
  bool is_quantized(const Node& node) const { return quantized_results_.contains(&node); }
  [[noreturn]] void refuse(const Node& node, std::string_view why) const;

 private:
  void add_inputs();
  void add_outputs();
  // Transposes an input to logical order. Keeps inputs in logical order or channels-last order.
  void reorder_input(Node& node, uint32_t position);
  void translate_call(Node& node);
  void translate_quantize(Node& node);
  void translate_dequantize(Node& node);
  uint32_t value_of(Node& node);
  uint32_t quantized_value(Node& quantized, const QuantParams& params);
  // Returns the value of a dynamically quantized activation. The first call adds the value.
  uint32_t dynamic_value(Node& quantize, int32_t nonbatch_dims);

  Preprocessing& p_;
  Parameters parameters_;
  PayloadGraph graph_;
  std::unordered_map<const Node*, uint32_t> values_;
  std::map<std::pair<const Node*, int32_t>, uint32_t> dynamic_values_;
  std::unordered_map<const Node*, Node*> quantized_results_;  // maps a call to its quantize call
};

}  // namespace vitrine::aot::xnnpack
