// Tests fully connected layers with every kind of weights, batched matrix products, softmax,
// attention and conversions.
#include <cmath>

#include "backends/xnnpack/runtime/reader/node_definition.h"
#include "test/conformance/conformance.h"

namespace vitrine::test {
namespace {

class Matrices : public testing::TestWithParam<NodeCase> {};
TEST_P(Matrices, MatchesPortable) { expect_conformance(GetParam()); }

constexpr Type kByChannel8 = Type::xnn_datatype_qcint8;
constexpr Type kByChannel4 = Type::xnn_datatype_qcint4;
constexpr Type kByBlock4 = Type::xnn_datatype_qbint4;

struct Layer {
  Dims in;
  uint32_t out;
};
const std::vector<Layer> kLayers = {
    {{1, 1}, 1},  {{1, 7}, 5},   {{5, 33}, 17},  {{2, 3, 8}, 6}, {{1, 2, 3, 16}, 40}, {{13, 64}, 3},
    {{2, 64}, 5}, {{3, 32}, 16}, {{16, 96}, 20}, {{17, 32}, 4},  {{1, 64}, 33}};

std::string layer_text(const Layer& layer) {
  std::string text;
  for (const uint32_t dim : layer.in) text += std::to_string(dim) + "x";
  return text + " to " + std::to_string(layer.out);
}

struct LayerKind {
  const char* name;
  Type type;
  std::optional<Type> weights;  // unset: the same as `type`
  bool by_channel = false;
  bool dynamic = false;  // activations quantized at run time, row by row
  bool early = false;    // quantized by the input's datatype, as in early payloads, not by a node
};
constexpr LayerKind kKinds[] = {
    {"f32", kFloat32, {}},
    {"f16", kFloat16, {}},
    {"f16 of f32", kFloat16, kFloat32},
    {"qs8", kInt8, {}},
    {"qu8", kUint8, {}},
    {"qs8 by channel", kInt8, kByChannel8, true},
    {"f32 of qc8", kFloat32, kByChannel8, true},
    {"f32 of qc4", kFloat32, kByChannel4, true},
    {"qd8 of qc8", kFloat32, kByChannel8, true, true},
    {"qd8 of qc4", kFloat32, kByChannel4, true, true},
    {"f16 qd8 of qc8", kFloat16, kByChannel8, true, true},
    {"f16 qd8 of qc4", kFloat16, kByChannel4, true, true},
    {"qd8 of qb4", kFloat32, kByBlock4, false, true},
    {"f16 qd8 of qb4", kFloat16, kByBlock4, false, true},
    {"early qd8 of qc8", kFloat32, kByChannel8, true, true, true},
};

// Excludes two kinds of 4-bit weights: rows of odd length, which XNNPACK packs differently from the
// ExecuTorch format, and rows that do not consist of whole blocks.
bool is_supported(const LayerKind& kind, const Layer& layer) {
  if (kind.weights == kByBlock4) return layer.in.back() % 32 == 0;
  return kind.weights != kByChannel4 || layer.in.back() % 2 == 0;
}

NodeCase layer_case(const LayerKind& kind, const Layer& layer, bool has_bias, bool transposed,
                    std::optional<Bounds> bounds) {
  NodeCase test;
  test.name = std::string("FullyConnected ") + kind.name + " " + layer_text(layer) +
              (has_bias ? "" : " without bias") + (transposed ? " transposed" : "") +
              (bounds.has_value() ? " with bounds" : "");
  test.type = kind.type;
  const uint32_t k = layer.in.back();
  Operand filter{transposed ? Dims{k, layer.out} : Dims{layer.out, k}, -1, 1, true};
  filter.type = kind.weights;
  if (kind.by_channel) filter.channel_dim = 0;
  filter.blocks = kind.weights == kByBlock4;
  Operand bias{{layer.out}, -1, 1, true};
  bias.bias = true;
  const bool f32_bias = kind.weights.has_value() && kind.type != kInt8;
  if (f32_bias) bias.type = kFloat32;
  test.operands = {{layer.in, -1, 1}, filter};
  if (has_bias) test.operands.push_back(bias);
  test.out_dims = layer.in;
  test.out_dims.back() = layer.out;
  test.build = [=](PayloadBuilder& b, Ids in, uint32_t out) {
    uint32_t x = in[0];
    if (kind.early) {
      b.values[x].dq_type = kInt8;
    } else if (kind.dynamic) {
      x = b.dynamically_quantized(x, 1);
    }
    b.fully_connected(x, in[1], has_bias ? in[2] : kInvalidId, out, transposed ? 1 : 0, bounds);
  };
  test.reference = [=, dims = test.out_dims](KernelCall& call, Operands in) -> Tensor& {
    const auto rows = static_cast<int32_t>(in[0]->numel() / k);
    const auto columns = static_cast<int32_t>(layer.out);
    Tensor& x = viewed(call, *in[0], {rows, static_cast<int32_t>(k)});
    Tensor& w = transposed ? *in[1] : permuted(call, *in[1], {1, 0});
    Tensor* y = &compute(call, "aten::mm.out", {rows, columns}, x, w);
    if (has_bias) y = &compute(call, "aten::add.out", {rows, columns}, *y, *in[2], 1);
    std::vector<int32_t> sizes = as_sizes(dims);
    sizes[0] = in[0]->size(0);
    return viewed(call, bounded(call, *y, bounds), sizes);
  };
  if (kind.early) test.constants = PayloadBuilder::Constants::kInFlatbuffer;
  if (has_bias && kind.type == kFloat32 && kind.by_channel && !kind.dynamic) {
    test.expected_error = "fp32 -> fp32 are not supported";  // see node_table.cc
  }
  // An output is a sum of up to 96 products of numbers below 1. XNNPACK may accumulate f16 products
  // in f16. Dynamic quantization stores inputs in [-1, 1] in steps of 2 / 255, so it changes each
  // input by up to half a step.
  test.tolerance = kind.type == kFloat16 ? 2e-2f : 3e-5f;
  if (kind.dynamic) {
    test.tolerance += 0.5f * 2 / 255 * 1.02f * std::sqrt(static_cast<float>(k)) * 2;
  }
  return test;
}

std::vector<NodeCase> layer_cases() {
  std::vector<NodeCase> all;
  for (const LayerKind& kind : kKinds) {
    for (const Layer& layer : kLayers) {
      if (!is_supported(kind, layer)) continue;
      all.push_back(layer_case(kind, layer, true, false, {}));
      all.push_back(layer_case(kind, layer, false, false, Bounds{0, 0.75f}));
      if (!kind.by_channel && !kind.dynamic) {
        all.push_back(layer_case(kind, layer, true, true, {}));
      }
    }
    NodeCase empty = layer_case(kind, kLayers[6], true, false, {});
    empty.name += " empty";
    empty.batches = {0};
    all.push_back(empty);
    all.push_back(layer_case(kind, kLayers[6], true, false, Bounds{-0.5f, 0.5f}));
    NodeCase changing = layer_case(kind, {{8, 64}, 5}, false, false, {});
    changing.name += " changing batch";
    changing.batches = {2, 8, 1, 5};
    all.push_back(changing);
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(FullyConnected, Matrices, testing::ValuesIn(layer_cases()), test_name);

// Layers with computed weights, with constants in the flatbuffer or in named data, with scales in a
// constant, or with a clamp after the layer.
std::vector<NodeCase> layer_variants() {
  const LayerKind &f32 = kKinds[0], &by_channel = kKinds[5];
  std::vector<NodeCase> all;
  const auto add = [&all](NodeCase test, const char* suffix) {
    test.name += suffix;
    all.push_back(std::move(test));
  };
  for (const bool has_bias : {false, true}) {
    NodeCase computed = layer_case(f32, kLayers[2], has_bias, false, {});
    computed.operands[1].constant = false;
    add(computed, " computed weights");
  }
  NodeCase stored = layer_case(f32, kLayers[2], true, false, {});
  stored.constants = PayloadBuilder::Constants::kInFlatbuffer;
  add(stored, " constants in the flatbuffer");
  stored.constants = PayloadBuilder::Constants::kNamed;
  add(stored, " named constants");
  NodeCase scaled = layer_case(by_channel, kLayers[2], true, false, {});
  scaled.operands[1].scales_in_constant = scaled.operands[2].scales_in_constant = true;
  add(scaled, " scales in a constant");
  const Bounds bounds{0, 0.75f};
  NodeCase clamped = layer_case(f32, {{8, 3}, 2}, false, false, bounds);
  clamped.batches = {2, 8, 1, 5};
  clamped.build = [=](PayloadBuilder& b, Ids in, uint32_t out) {
    const uint32_t product = b.internal({8, 2});
    b.fully_connected(in[0], in[1], kInvalidId, product);
    b.clamp(product, out, bounds);
  };
  add(clamped, " in a clamp changing batch");
  return all;
}
INSTANTIATE_TEST_SUITE_P(FullyConnectedVariants, Matrices, testing::ValuesIn(layer_variants()),
                         test_name);

std::vector<NodeCase> product_cases() {
  const struct {
    Dims a, b, out;
  } shapes[] = {{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
                {{2, 3, 5}, {2, 5, 7}, {2, 3, 7}},
                {{3, 17, 33}, {3, 33, 2}, {3, 17, 2}},
                {{2, 2, 3, 4}, {2, 2, 4, 5}, {2, 2, 3, 5}}};
  std::vector<NodeCase> all;
  for (const auto& shape : shapes) {
    for (const Type type : {kFloat32, kFloat16}) {
      for (const bool constant : {false, true}) {
        if (constant && type == kFloat16) continue;
        NodeCase test;
        test.name = "BatchMatrixMultiply " + std::to_string(shape.a.back()) + " rank " +
                    std::to_string(shape.a.size()) + " " + type_name(type) +
                    (constant ? " constant" : "");
        test.type = type;
        test.operands = {{shape.a, -1, 1}, {shape.b, -1, 1, constant}};
        test.out_dims = shape.out;
        test.tolerance = type == kFloat16 ? 2e-2f : 3e-5f;
        test.build = binary_node(Tag::XNNBatchMatrixMultiply);
        test.reference = [shape](KernelCall& call, Operands in) -> Tensor& {
          const auto flat = [&](Tensor& x, const Dims& dims) -> Tensor& {
            const auto m = static_cast<int32_t>(dims[dims.size() - 2]);
            const auto n = static_cast<int32_t>(dims.back());
            const auto batch = static_cast<int32_t>(x.numel() / m / n);
            return viewed(call, x, {batch, m, n});
          };
          Tensor& a = flat(*in[0], shape.a);
          Tensor& b = flat(*in[1], shape.b);
          Tensor& y = compute(call, "aten::bmm.out", {a.size(0), a.size(1), b.size(2)}, a, b);
          return viewed(call, y, as_sizes(shape.out));
        };
        all.push_back(test);
      }
    }
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Products, Matrices, testing::ValuesIn(product_cases()), test_name);

std::vector<NodeCase> softmax_cases() {
  std::vector<NodeCase> all;
  for (const Dims& dims : {Dims{1}, Dims{3, 37}, Dims{2, 3, 5}, Dims{1, 2, 3, 129}}) {
    for (const Type type : {kFloat32, kFloat16}) {
      all.push_back({.name = "Softmax " + std::to_string(dims.back()) + " " + type_name(type),
                     .type = type,
                     .operands = {{dims, -5, 5}},
                     .out_dims = dims,
                     .build = unary_node(Tag::XNNSoftmax),
                     .reference = [](KernelCall& call, Operands in) -> Tensor& {
                       return compute(call, "aten::_softmax.out", sizes_of(*in[0]), *in[0], -1,
                                      false);
                     }});
    }
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Softmax, Matrices, testing::ValuesIn(softmax_cases()), test_name);

// softmax(query * scale * key^T + mask) * value
std::vector<NodeCase> attention_cases() {
  const struct {
    const char* name;
    Dims query, key, value;
  } shapes[] = {{"one element", {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
                {"heads", {2, 3, 8}, {2, 5, 8}, {2, 5, 6}},
                {"batch", {2, 2, 7, 4}, {2, 2, 9, 4}, {2, 2, 9, 4}},
                {"one key for all heads", {3, 4, 8}, {5, 8}, {5, 7}}};
  std::vector<NodeCase> all;
  for (const auto& shape : shapes) {
    for (const Type type : {kFloat32, kFloat16}) {
      const uint32_t tokens = shape.query[shape.query.size() - 2];
      const uint32_t others = shape.key[shape.key.size() - 2];
      NodeCase test;
      test.name = std::string("ScaledDotProductAttention ") + shape.name + " " + type_name(type);
      test.type = type;
      if (!xnnpack::optional_nodes().attention) {
        test.expected_error = "xnodes[0] (ScaledDotProductAttention): XNNPACK rejects it";
      }
      test.operands = {{shape.query, -1, 1},
                       {shape.key, -1, 1},
                       {shape.value, -1, 1},
                       {{shape.query.back()}, 0.1f, 0.9f, true},
                       {{tokens, others}, -2, 2}};
      test.out_dims = shape.query;
      test.out_dims.back() = shape.value.back();
      test.tolerance = type == kFloat16 ? 1e-2f : 1e-5f;
      test.build = [](PayloadBuilder& b, Ids in, uint32_t out) { b.attention(in, out); };
      test.reference = [shape, out = test.out_dims](KernelCall& call, Operands in) -> Tensor& {
        const auto t = in[4]->size(0);
        const auto u = in[4]->size(1);
        const auto c = in[0]->size(in[0]->rank() - 1);
        const auto d = in[2]->size(in[2]->rank() - 1);
        const auto heads = static_cast<int32_t>(in[0]->numel() / t / c);
        const auto flat = [&](Tensor& x, int32_t rows, int32_t columns) -> Tensor& {
          const auto count = static_cast<int32_t>(x.numel() / rows / columns);
          Tensor& matrices = viewed(call, x, {count, rows, columns});
          return count == heads ? matrices
                                : compute(call, "aten::expand_copy.out", {heads, rows, columns},
                                          matrices, call.ints({heads, rows, columns}), false);
        };
        Tensor& query = compute(call, "aten::mul.out", {heads, t, c}, flat(*in[0], t, c), *in[3]);
        Tensor& key = permuted(call, flat(*in[1], u, c), {0, 2, 1});
        Tensor& logits = compute(call, "aten::bmm.out", {heads, t, u}, query, key);
        Tensor& masked = compute(call, "aten::add.out", {heads, t, u}, logits, *in[4], 1);
        Tensor& weights = compute(call, "aten::_softmax.out", {heads, t, u}, masked, -1, false);
        Tensor& result = compute(call, "aten::bmm.out", {heads, t, d}, weights, flat(*in[2], u, d));
        return viewed(call, result, as_sizes(out));
      };
      all.push_back(test);
    }
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Attention, Matrices, testing::ValuesIn(attention_cases()), test_name);

// The reference copies the input in f32. The comparison then rounds this copy to the output's type,
// which is the type of the case.
std::vector<NodeCase> conversion_cases() {
  std::vector<NodeCase> all;
  for (const Type from : kTypes) {
    for (const Type to : kTypes) {
      for (const Dims& dims : {Dims{1}, Dims{3, 43}, Dims{1, 2, 3, 4, 5}}) {
        NodeCase test;
        test.name = std::string("Convert ") + type_name(from) + " to " + type_name(to) + " rank " +
                    std::to_string(dims.size());
        test.type = to;
        Operand operand{dims, -3, 3};
        operand.type = from;
        test.operands = {operand};
        test.out_dims = dims;
        test.build = unary_node(Tag::XNNConvert);
        test.reference = [](KernelCall& call, Operands in) -> Tensor& {
          return compute(call, "aten::clone.out", sizes_of(*in[0]), *in[0], KernelCall::none());
        };
        const bool same_float = from == to && !is_quantized(from);
        const bool signs_differ = from != to && is_quantized(from) && is_quantized(to);
        const bool unsigned_f16 =
            (from == kFloat16 && to == kUint8) || (from == kUint8 && to == kFloat16);
        if (same_float || signs_differ || unsigned_f16) {
          test.expected_error = "xnodes[0] (Convert): datatypes";
        }
        all.push_back(test);
        if (!test.expected_error.empty() || !is_quantized(to)) continue;
        test.name += " saturating";
        test.out_quant = PerTensor{0.0078125f, 3};
        all.push_back(test);
      }
    }
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Conversions, Matrices, testing::ValuesIn(conversion_cases()), test_name);

}  // namespace
}  // namespace vitrine::test
