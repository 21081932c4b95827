#include <cmath>

#include "test/conformance/conformance.h"

namespace vitrine::test {
namespace {

class Elementwise : public testing::TestWithParam<NodeCase> {};
TEST_P(Elementwise, MatchesPortableKernels) { expect_conformance(GetParam()); }

constexpr Type kElementwiseTypes[] = {kFloat32, kFloat16, kBrain16, kInt8, kUint8};

struct UnaryNode {
  Tag tag;
  const char* name;
  float low, high;
  const char* op;  // if null, `reference` computes the expected result
  Tensor& (*reference)(KernelCall& call, Tensor& x) = nullptr;
  bool moves_only = false;
};

Tensor& hardswish(KernelCall& call, Tensor& x) {
  Tensor& shifted = compute(call, "aten::add.Scalar_out", sizes_of(x), x, 3.0, 1);
  Tensor& clamped = compute(call, "aten::hardtanh.out", sizes_of(x), shifted, 0.0, 6.0);
  Tensor& product = compute(call, "aten::mul.out", sizes_of(x), clamped, x);
  return compute(call, "aten::div.Scalar_out", sizes_of(x), product, 6.0);
}
Tensor& square(KernelCall& call, Tensor& x) {
  return compute(call, "aten::pow.Tensor_Scalar_out", sizes_of(x), x, 2);
}
Tensor& gelu(KernelCall& call, Tensor& x) {
  return compute(call, "aten::gelu.out", sizes_of(x), x, "none");
}
Tensor& copy(KernelCall& call, Tensor& x) {
  return compute(call, "aten::clone.out", sizes_of(x), x, KernelCall::none());
}

constexpr UnaryNode kUnary[] = {
    {Tag::XNNSigmoid, "Sigmoid", -6, 6, "aten::sigmoid.out"},
    {Tag::XNNFloor, "Floor", -9, 9, "aten::floor.out"},
    {Tag::XNNSquareRoot, "SquareRoot", 0, 9, "aten::sqrt.out"},
    {Tag::XNNCeiling, "Ceiling", -9, 9, "aten::ceil.out"},
    {Tag::XNNHardswish, "Hardswish", -6, 6, nullptr, hardswish},
    {Tag::XNNNegate, "Negate", -9, 9, "aten::neg.out"},
    {Tag::XNNSquare, "Square", -3, 3, nullptr, square},
    {Tag::XNNAbs, "Abs", -9, 9, "aten::abs.out"},
    {Tag::XNNReciprocalSquareRoot, "ReciprocalSquareRoot", 0.25f, 9, "aten::rsqrt.out"},
    {Tag::XNNLog, "Log", 0.25f, 9, "aten::log.out"},
    {Tag::XNNGelu, "Gelu", -4, 4, nullptr, gelu},
    {Tag::XNNTanh, "Tanh", -4, 4, "aten::tanh.out"},
    {Tag::XNNExp, "Exp", -3, 3, "aten::exp.out"},
    {Tag::XNNSin, "Sin", -6, 6, "aten::sin.out"},
    {Tag::XNNCos, "Cos", -6, 6, "aten::cos.out"},
    {Tag::XNNCopy, "Copy", -9, 9, nullptr, copy, true},
};

// Shapes of every rank. Some have one element, some have an odd number of elements, and some have
// more elements than a vector.
const std::vector<Dims> kShapes = {
    {1}, {37}, {3, 129}, {2, 3, 5}, {1, 2, 3, 4}, {2, 1, 3, 1, 5}, {1, 2, 1, 3, 2, 3}};

std::string shape_text(const Dims& dims) {
  std::string text;
  for (const uint32_t dim : dims) text += (text.empty() ? "" : "x") + std::to_string(dim);
  return text;
}

std::vector<NodeCase> unary_cases() {
  std::vector<NodeCase> cases;
  for (const UnaryNode& node : kUnary) {
    for (const Type type : kElementwiseTypes) {
      for (const Dims& dims : kShapes) {
        NodeCase test;
        test.name = std::string(node.name) + " " + type_name(type) + " " + shape_text(dims);
        test.type = type;
        // The range of a quantized operand begins at zero if the function is undefined below zero.
        test.operands = {{dims, node.low, node.high}};
        test.out_dims = dims;
        test.build = unary_node(node.tag);
        test.reference = [node](KernelCall& call, Operands in) -> Tensor& {
          return node.op == nullptr ? node.reference(call, *in[0])
                                    : compute(call, node.op, sizes_of(*in[0]), *in[0]);
        };
        test.moves_only = node.moves_only;
        cases.push_back(test);
        if (dims.size() == 2) {
          test.batches = {0};
          test.name += " empty";
          cases.push_back(test);
        }
      }
    }
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Unary, Elementwise, testing::ValuesIn(unary_cases()), test_name);

// Cases of the unary nodes that have parameters.
std::vector<NodeCase> parametric_cases() {
  std::vector<NodeCase> cases;
  const Dims dims = {3, 41};
  for (const Type type : kElementwiseTypes) {
    const auto add = [&](const std::string& name, auto build, auto reference) {
      cases.push_back(
          {.name = name + " " + type_name(type),
           .type = type,
           .operands = {{dims, -4, 4}},
           .out_dims = dims,
           .build = [build](PayloadBuilder& b, Ids in, uint32_t out) { build(b, in[0], out); },
           .reference = [reference](KernelCall& call, Operands in) -> Tensor& {
             return reference(call, *in[0]);
           }});
    };
    for (const float slope : {0.01f, 0.5f}) {
      add(
          "LeakyReLU " + std::to_string(slope),
          [slope](PayloadBuilder& b, uint32_t in, uint32_t out) { b.leaky_relu(in, out, slope); },
          [slope](KernelCall& call, Tensor& x) -> Tensor& {
            return compute(call, "aten::leaky_relu.out", sizes_of(x), x, double{slope});
          });
    }
    for (const float alpha : {1.0f, 0.5f}) {
      add(
          "ELU " + std::to_string(alpha),
          [alpha](PayloadBuilder& b, uint32_t in, uint32_t out) { b.elu(in, out, alpha); },
          [alpha](KernelCall& call, Tensor& x) -> Tensor& {
            return compute(call, "aten::elu.out", sizes_of(x), x, double{alpha}, 1.0, 1.0);
          });
    }
    const Bounds bounds[] = {{0, 6}, {-1, 1}, {0, INFINITY}, {-INFINITY, 2}, {1, 3}};
    for (const Bounds& bound : bounds) {
      add(
          "Clamp " + std::to_string(bound.min) + " " + std::to_string(bound.max),
          [bound](PayloadBuilder& b, uint32_t in, uint32_t out) { b.clamp(in, out, bound); },
          [bound](KernelCall& call, Tensor& x) -> Tensor& {
            return compute(call, "aten::clamp.out", sizes_of(x), x, double{bound.min},
                           double{bound.max});
          });
    }
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Parametric, Elementwise, testing::ValuesIn(parametric_cases()), test_name);

struct BinaryNode {
  Tag tag;
  const char* name;
  const char* op;
  bool bounds;
  float low, high;  // the range of the second operand
};
constexpr BinaryNode kBinary[] = {
    {Tag::XNNAdd, "Add", "aten::add.out", true, -3, 3},
    {Tag::XNNSubtract, "Subtract", "aten::sub.out", true, -3, 3},
    {Tag::XNNMultiply, "Multiply", "aten::mul.out", true, -3, 3},
    {Tag::XNNDiv, "Div", "aten::div.out", true, 0.5f, 3},
    {Tag::XNNMinimum, "Minimum", "aten::minimum.out", false, -3, 3},
    {Tag::XNNMaximum, "Maximum", "aten::maximum.out", false, -3, 3},
};
struct Broadcast {
  Dims a, b, out;
};
const std::vector<Broadcast> kBroadcasts = {
    {{1}, {1}, {1}},
    {{2, 37}, {2, 37}, {2, 37}},
    {{3, 5}, {5}, {3, 5}},
    {{2, 3, 4}, {2, 1, 4}, {2, 3, 4}},
    {{1, 3, 1}, {2, 1, 4}, {2, 3, 4}},
    {{2, 2, 3, 5}, {1}, {2, 2, 3, 5}},
    {{2, 1, 2, 1, 2, 3}, {2, 1, 2, 2, 3}, {2, 2, 2, 2, 2, 3}},
};

Tensor& binary_reference(KernelCall& call, const char* op, const Dims& out, Tensor& a, Tensor& b) {
  const std::vector<int32_t> sizes = as_sizes(out);
  const std::string_view name = op;
  if (name == "aten::add.out" || name == "aten::sub.out") return compute(call, op, sizes, a, b, 1);
  return compute(call, op, sizes, a, b);
}

std::vector<NodeCase> binary_cases() {
  std::vector<NodeCase> cases;
  for (const BinaryNode& node : kBinary) {
    for (const Type type : kElementwiseTypes) {
      for (const Broadcast& dims : kBroadcasts) {
        for (const bool constant : {false, true}) {
          NodeCase test;
          test.name = std::string(node.name) + " " + type_name(type) + " " + shape_text(dims.a) +
                      " and " + shape_text(dims.b) + (constant ? " constant" : "");
          test.type = type;
          test.operands = {{dims.a, -3, 3}, {dims.b, node.low, node.high, constant}};
          test.out_dims = dims.out;
          test.build = binary_node(node.tag);
          test.reference = [op = node.op, out = dims.out](KernelCall& call,
                                                          Operands in) -> Tensor& {
            return binary_reference(call, op, out, *in[0], *in[1]);
          };
          cases.push_back(test);
          if (!constant && dims.a == dims.b && dims.a.size() == 2) {
            test.batches = {0};
            test.name += " empty";
            cases.push_back(test);
          }
          if (!node.bounds || dims.a != dims.b || constant) continue;
          test.batches = {};
          test.name = std::string(node.name) + " " + type_name(type) + " " + shape_text(dims.a) +
                      " with bounds";
          test.build = binary_node(node.tag, Bounds{0, 1.5f});
          test.reference = [free = test.reference](KernelCall& call, Operands in) -> Tensor& {
            return bounded(call, free(call, in), Bounds{0, 1.5f});
          };
          cases.push_back(test);
        }
      }
    }
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Binary, Elementwise, testing::ValuesIn(binary_cases()), test_name);

std::vector<NodeCase> prelu_cases() {
  std::vector<NodeCase> cases;
  for (const Type type : kElementwiseTypes) {
    for (const Dims& dims : {Dims{2, 5}, Dims{1, 3, 3, 7}}) {
      cases.push_back(
          {.name = std::string("PReLU ") + type_name(type) + " " + shape_text(dims),
           .type = type,
           .operands = {{dims, -3, 3}, {{dims.back()}, -0.5f, 1, true}},
           .out_dims = dims,
           .build = binary_node(Tag::XNNPReLU),
           .reference = [](KernelCall& call, Operands in) -> Tensor& {
             const std::vector<int32_t> sizes = sizes_of(*in[0]);
             Tensor& scaled = compute(call, "aten::mul.out", sizes, *in[0], *in[1]);
             Tensor& negative = call.make(ScalarType::kBool, sizes);
             EXPECT_TRUE(succeeds(call.run("aten::lt.Scalar_out", *in[0], 0, negative)));
             return compute(call, "aten::where.self_out", sizes, negative, scaled, *in[0]);
           }});
    }
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(PReLU, Elementwise, testing::ValuesIn(prelu_cases()), test_name);

struct ScaleCase {
  Tag tag;
  const char* name;
  const char* op;
  PerTensor a, b, out;  // b has the scale 0 if the node has one operand
  float slope = 0;
};
const float kBelow20 = std::nextafter(0x1p20f, 0.0f), kBelow8 = std::nextafter(0x1p8f, 0.0f);
// The scales of the operands differ, or are at the limits that XNNPACK supports.
// node_checks_test.cc tests scales beyond these limits.
const ScaleCase kScales[] = {
    {Tag::XNNAdd, "Add", "aten::add.out", {0.5f, 0}, {0.25f, 4}, {1, -1}},
    {Tag::XNNAdd, "Add", "aten::add.out", {1}, {1}, {0x1p11f}},
    {Tag::XNNAdd, "Add", "aten::add.out", {kBelow20}, {kBelow20}, {1}},
    {Tag::XNNAdd, "Add", "aten::add.out", {0x1p-11f}, {1}, {1}},
    {Tag::XNNSubtract, "Subtract", "aten::sub.out", {1}, {1e-30f}, {1}},
    {Tag::XNNSubtract, "Subtract", "aten::sub.out", {1}, {kBelow20}, {0x1p2f}},
    {Tag::XNNMultiply, "Multiply", "aten::mul.out", {1}, {1}, {0x1p20f}},
    {Tag::XNNMultiply, "Multiply", "aten::mul.out", {1e-30f}, {1e-30f}, {1}},
    {Tag::XNNMultiply, "Multiply", "aten::mul.out", {kBelow8}, {1}, {1}},
    {Tag::XNNConvert, "Convert", nullptr, {1}, {0}, {0x1.8p8f}},
    {Tag::XNNConvert, "Convert", nullptr, {0x1p7f}, {0}, {1}},
    {Tag::XNNLeakyReLU, "LeakyReLU", nullptr, {1}, {0}, {0x1.8p8f}, 1},
    {Tag::XNNLeakyReLU, "LeakyReLU", nullptr, {1}, {0}, {1}, 0},
    {Tag::XNNLeakyReLU, "LeakyReLU", nullptr, {1}, {0}, {1}, 0x1p-10f},
    {Tag::XNNLeakyReLU, "LeakyReLU", nullptr, {0x1p7f}, {0}, {1}, 0x1p-15f},
    {Tag::XNNLeakyReLU, "LeakyReLU", nullptr, {1}, {0}, {1}, -0x1.FFFCp6f},
};

std::vector<NodeCase> scale_cases() {
  std::vector<NodeCase> cases;
  for (const ScaleCase& scales : kScales) {
    NodeCase test;
    test.name = std::string(scales.name) + " qs8 with scales";
    test.type = kInt8;
    test.out_dims = {3, 41};
    test.out_quant = scales.out;
    for (const PerTensor& quant : {scales.a, scales.b}) {
      if (quant.scale == 0) continue;
      Operand operand{test.out_dims, -100 * quant.scale, 100 * quant.scale};
      operand.quant = quant;
      test.operands.push_back(operand);
    }
    test.build = [scales](PayloadBuilder& b, Ids in, uint32_t out) {
      if (scales.tag == Tag::XNNLeakyReLU) {
        b.leaky_relu(in[0], out, scales.slope);
      } else if (in.size() == 1) {
        b.unary(scales.tag, in[0], out);
      } else {
        b.binary(scales.tag, in[0], in[1], out);
      }
    };
    test.reference = [scales](KernelCall& call, Operands in) -> Tensor& {
      const std::vector<int32_t> sizes = sizes_of(*in[0]);
      if (scales.tag == Tag::XNNConvert) return copy(call, *in[0]);
      if (scales.tag == Tag::XNNLeakyReLU) {
        return compute(call, "aten::leaky_relu.out", sizes, *in[0], double{scales.slope});
      }
      return binary_reference(call, scales.op, {3, 41}, *in[0], *in[1]);
    };
    cases.push_back(test);
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Scales, Elementwise, testing::ValuesIn(scale_cases()), test_name);

// Cases whose tensors have another rank or dim order than the payload declares, and a case with an
// unused node.
std::vector<NodeCase> argument_cases() {
  NodeCase negate;
  negate.operands = {{{1}, -3, 3}};
  negate.out_dims = {1};
  negate.build = unary_node(Tag::XNNNegate);
  negate.reference = [](KernelCall& call, Operands in) -> Tensor& {
    return compute(call, "aten::neg.out", sizes_of(*in[0]), *in[0]);
  };
  NodeCase rank_zero = negate;
  rank_zero.name = "Negate rank zero";
  rank_zero.arguments = Arguments::kRankZero;

  NodeCase unused = negate;
  unused.name = "Negate after an unused node";
  unused.build = [](PayloadBuilder& b, Ids in, uint32_t out) {
    b.unary(Tag::XNNExp, in[0], b.internal({1}));
    b.unary(Tag::XNNNegate, in[0], out);
  };

  NodeCase channels_last;
  channels_last.name = "Add channels last";
  channels_last.operands = {{{2, 4, 2, 3}, -3, 3}, {{3}, -3, 3, true}};
  channels_last.out_dims = {2, 4, 2, 3};
  channels_last.arguments = Arguments::kChannelsLast;
  channels_last.build = binary_node(Tag::XNNAdd);
  channels_last.reference = [](KernelCall& call, Operands in) -> Tensor& {
    return binary_reference(call, "aten::add.out", {2, 4, 2, 3}, *in[0], *in[1]);
  };
  return {rank_zero, unused, channels_last};
}
INSTANTIATE_TEST_SUITE_P(Arguments, Elementwise, testing::ValuesIn(argument_cases()), test_name);

}  // namespace
}  // namespace vitrine::test
