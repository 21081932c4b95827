// How each operator is told to XNNPACK: one row an operator.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "backends/xnnpack/aot/translator.h"
#include "backends/xnnpack/aot/weights.h"

namespace vitrine::aot::xnnpack {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <NodeKind kind>
void unary(Translator& t, Node& node) {
  t.append_call(node, t.make(node, kind));
}

template <NodeKind kind>
void binary(Translator& t, Node& node) {
  BlobNode made = t.make(node, kind);
  made.inputs = {t.input_of(node, required(node, 0)), t.input_of(node, required(node, 1))};
  made.output = t.output_of(node);
  t.append(std::move(made));
}

void clamp(Translator& t, Node& node) {
  BlobNode made = t.make(node, NodeKind::XNNClamp);
  made.bounds = Bounds{static_cast<float>(real(node, 1, "min", -kInfinity)),
                       static_cast<float>(real(node, 2, "max", kInfinity))};
  t.append_call(node, std::move(made));
}

void hardtanh(Translator& t, Node& node) {
  BlobNode made = t.make(node, NodeKind::XNNClamp);
  made.bounds = Bounds{static_cast<float>(real(node, 1, "min_val", -1.0)),
                       static_cast<float>(real(node, 2, "max_val", 1.0))};
  t.append_call(node, std::move(made));
}

void relu(Translator& t, Node& node) {
  BlobNode made = t.make(node, NodeKind::XNNClamp);
  made.bounds = Bounds{0.0f, kInfinity};
  t.append_call(node, std::move(made));
}

// The format's Gelu is the exact one. The approximation
// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) is told step by step.
void gelu(Translator& t, Node& node) {
  const Argument* approximation = argument(node, 1, "approximate");
  const auto* name = approximation == nullptr ? nullptr : approximation->get<std::string>();
  if (name == nullptr || *name != "tanh") return unary<NodeKind::XNNGelu>(t, node);
  const auto step = [&](NodeKind kind, std::vector<uint32_t> inputs, bool is_last = false) {
    BlobNode made = t.make(node, kind);
    made.inputs = std::move(inputs);
    made.output = is_last ? t.output_of(node) : t.output_like(node, t.dims_of(node));
    const uint32_t output = made.output;
    t.append(std::move(made));
    return output;
  };
  const auto number = [&](float value) {
    BlobValue constant;
    constant.dims = {1};
    return t.add_constant(std::move(constant), bytes_of_floats({value}), nullptr);
  };
  const uint32_t x = t.input_of(node, required(node, 0));
  const uint32_t square = step(NodeKind::XNNMultiply, {x, x});
  const uint32_t cube = step(NodeKind::XNNMultiply, {square, x});
  const uint32_t scaled = step(NodeKind::XNNMultiply, {cube, number(0.044715f)});
  const uint32_t sum = step(NodeKind::XNNAdd, {x, scaled});
  const uint32_t inner = step(NodeKind::XNNMultiply, {sum, number(0.7978845608028654f)});
  const uint32_t tanh = step(NodeKind::XNNTanh, {inner});
  const uint32_t factor = step(NodeKind::XNNAdd, {tanh, number(1.0f)});
  const uint32_t half = step(NodeKind::XNNMultiply, {x, number(0.5f)});
  step(NodeKind::XNNMultiply, {half, factor}, true);
}

void leaky_relu(Translator& t, Node& node) {
  BlobNode made = t.make(node, NodeKind::XNNLeakyReLU);
  made.parameter = static_cast<float>(real(node, 1, "negative_slope", 0.01));
  t.append_call(node, std::move(made));
}

void cat(Translator& t, Node& node) {
  constexpr std::array kKinds = {NodeKind::XNNConcatenate2, NodeKind::XNNConcatenate3,
                                 NodeKind::XNNConcatenate4, NodeKind::XNNConcatenate5};
  const Argument* list = argument(node, 0, "tensors");
  const ArgumentList* items = list == nullptr ? nullptr : list->list();
  if (items == nullptr || items->size() < 2 || items->size() > 5) {
    t.refuse(node, "it has not 2 to 5 inputs");
  }
  BlobNode made = t.make(node, kKinds[items->size() - 2]);
  for (const Argument& item : *items) {
    if (item.node() == nullptr) t.refuse(node, "an input is no tensor");
    made.inputs.push_back(t.input_of(node, *item.node()));
  }
  made.axis =
      static_cast<uint32_t>(wrapped_dim(node, integer(node, 1, "dim", 0), spec_of(node).rank()));
  made.output = t.output_of(node);
  t.append(std::move(made));
}

void permute(Translator& t, Node& node) {
  BlobNode made = t.make(node, NodeKind::XNNStaticTranspose);
  const size_t rank = spec_of(node).rank();
  if (calls_op(node, "t_copy.default") && rank == 2) {
    made.list = {1, 0};
  } else {
    for (const int64_t dim : integers(node, 1, "dims", rank)) {
      made.list.push_back(static_cast<uint32_t>(wrapped_dim(node, dim, rank)));
    }
  }
  if (made.list.size() != rank) t.refuse(node, "its dims are unknown");
  t.append_call(node, std::move(made));
}

// Views and squeezes: sizes that change are 0, inferred.
void reshape(Translator& t, Node& node) {
  BlobNode made = t.make(node, NodeKind::XNNStaticReshape);
  const std::vector<uint32_t> dims = t.dims_of(node);
  const std::vector<SymInt>& sizes = spec_of(node).sizes;
  std::vector<int64_t> asked;
  if (calls_op(node, "view_copy.default")) asked = integers(node, 1, "size", 0);
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool is_inferred =
        i < asked.size() ? asked[i] == -1 : i < sizes.size() && !sizes[i].is_static();
    made.list.push_back(is_inferred ? 0 : dims[i]);
  }
  if (std::ranges::count(made.list, 0U) > 1) t.refuse(node, "more than one size is not fixed");
  t.append_call(node, std::move(made));
}

void slice(Translator& t, Node& node) {
  BlobNode made = t.make(node, NodeKind::XNNStaticSlice);
  const TensorSpec& input = spec_of(required(node, 0));
  const size_t dim = wrapped_dim(node, integer(node, 1, "dim", 0), input.rank());
  int64_t start = integer(node, 2, "start", 0);
  if (input.sizes[dim].is_static()) {
    const int64_t size = input.sizes[dim].value();
    start = std::clamp<int64_t>(start < 0 ? start + size : start, 0, size);
  } else if (start < 0 || start > std::numeric_limits<int32_t>::max()) {
    t.refuse(node, "where it begins is not fixed");
  }
  made.list.assign(input.rank(), 0);
  made.list[dim] = t.size_of(node, start);
  made.second_list = t.dims_of(node);
  t.append_call(node, std::move(made));
}

void pad(Translator& t, Node& node) {
  BlobNode made = t.make(node, NodeKind::XNNStaticConstantPad);
  const size_t rank = spec_of(node).rank();
  const std::vector<int64_t> padding = integers(node, 1, "pad", 0);
  if (padding.size() % 2 != 0 || padding.size() / 2 > rank) {
    t.refuse(node, "its padding has another number of dims than its input");
  }
  made.list.assign(rank, 0);
  made.second_list.assign(rank, 0);
  // The last dim comes first.
  for (size_t i = 0; i < padding.size() / 2; ++i) {
    made.list[rank - 1 - i] = t.size_of(node, padding[2 * i]);
    made.second_list[rank - 1 - i] = t.size_of(node, padding[2 * i + 1]);
  }
  made.parameter = static_cast<float>(real(node, 2, "value", 0.0));
  t.append_call(node, std::move(made));
}

void copy(Translator& t, Node& node) {
  BlobNode made = t.make(node, NodeKind::XNNCopy);
  const TensorSpec& spec = spec_of(node);
  made.wants_channels_last =
      spec.rank() == 4 && kept_dim_order(spec) == std::vector<uint8_t>{0, 2, 3, 1};
  t.append_call(node, std::move(made));
}

void mean(Translator& t, Node& node) {
  BlobNode made = t.make(node, NodeKind::XNNGlobalAvgPooling2d);
  made.flags = kKeepDims;
  t.append_call(node, std::move(made));
}

void upsample(Translator& t, Node& node) {
  BlobNode made = t.make(node, NodeKind::XNNStaticResizeBilinear2D);
  const std::vector<uint32_t> dims = t.dims_of(node);
  if (dims.size() != 4) t.refuse(node, "its result has not four dims");
  made.new_height = dims[2];
  made.new_width = dims[3];
  made.flags = boolean(node, 2, "align_corners", false) ? kAlignCorners : 0;
  t.append_call(node, std::move(made));
}

struct TranslationRow {
  std::string_view op;
  TranslateCall translate;
};
constexpr std::array kTranslations = {
    TranslationRow{"_clone_dim_order.default", copy},
    TranslationRow{"_softmax.default", unary<NodeKind::XNNSoftmax>},
    TranslationRow{"_to_dim_order_copy.default", copy},
    TranslationRow{"abs.default", unary<NodeKind::XNNAbs>},
    TranslationRow{"add.Tensor", binary<NodeKind::XNNAdd>},
    TranslationRow{"addmm.default", translate_linear},
    TranslationRow{"alias_copy.default", copy},
    TranslationRow{"amax.default", translate_amax},
    TranslationRow{"avg_pool2d.default", translate_average_pool},
    TranslationRow{"bmm.default", binary<NodeKind::XNNBatchMatrixMultiply>},
    TranslationRow{"cat.default", cat},
    TranslationRow{"ceil.default", unary<NodeKind::XNNCeiling>},
    TranslationRow{"clamp.default", clamp},
    TranslationRow{"clone.default", copy},
    TranslationRow{"constant_pad_nd.default", pad},
    TranslationRow{"convolution.default", translate_convolution},
    TranslationRow{"cos.default", unary<NodeKind::XNNCos>},
    TranslationRow{"div.Tensor", binary<NodeKind::XNNDiv>},
    TranslationRow{"exp.default", unary<NodeKind::XNNExp>},
    TranslationRow{"floor.default", unary<NodeKind::XNNFloor>},
    TranslationRow{"gelu.default", gelu},
    TranslationRow{"hardswish.default", unary<NodeKind::XNNHardswish>},
    TranslationRow{"hardtanh.default", hardtanh},
    TranslationRow{"leaky_relu.default", leaky_relu},
    TranslationRow{"linear.default", translate_linear},
    TranslationRow{"log.default", unary<NodeKind::XNNLog>},
    TranslationRow{"max_pool2d.default", translate_max_pool},
    TranslationRow{"maximum.default", binary<NodeKind::XNNMaximum>},
    TranslationRow{"mean.dim", mean},
    TranslationRow{"minimum.default", binary<NodeKind::XNNMinimum>},
    TranslationRow{"mm.default", translate_linear},
    TranslationRow{"mul.Tensor", binary<NodeKind::XNNMultiply>},
    TranslationRow{"neg.default", unary<NodeKind::XNNNegate>},
    TranslationRow{"permute_copy.default", permute},
    TranslationRow{"pow.Tensor_Scalar", unary<NodeKind::XNNSquare>},
    TranslationRow{"prelu.default", binary<NodeKind::XNNPReLU>},
    TranslationRow{"relu.default", relu},
    TranslationRow{"rsqrt.default", unary<NodeKind::XNNReciprocalSquareRoot>},
    TranslationRow{"sigmoid.default", unary<NodeKind::XNNSigmoid>},
    TranslationRow{"sin.default", unary<NodeKind::XNNSin>},
    TranslationRow{"slice_copy.Tensor", slice},
    TranslationRow{"sqrt.default", unary<NodeKind::XNNSquareRoot>},
    TranslationRow{"sub.Tensor", binary<NodeKind::XNNSubtract>},
    TranslationRow{"t_copy.default", permute},
    TranslationRow{"tanh.default", unary<NodeKind::XNNTanh>},
    TranslationRow{"unsqueeze_copy.default", reshape},
    TranslationRow{"upsample_bilinear2d.vec", upsample},
    TranslationRow{"view_copy.default", reshape},
};

}  // namespace

TranslateCall find_translation(std::string_view op) {
  const auto found = std::ranges::find(kTranslations, op, &TranslationRow::op);
  return found == kTranslations.end() ? nullptr : found->translate;
}

}  // namespace vitrine::aot::xnnpack
