#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "backends/xnnpack/aot/translations.h"
#include "backends/xnnpack/aot/translator.h"
#include "backends/xnnpack/aot/weights.h"

namespace vitrine::aot::xnnpack {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

void translate_unary(Translator& t, Node& node, const NodeKinds& kinds) {
  t.append_call(node, t.make(node, kinds[0]));
}

void translate_binary(Translator& t, Node& node, const NodeKinds& kinds) {
  PayloadNode made = t.make(node, kinds[0]);
  made.inputs = {t.input_of(node, required(node, 0)), t.input_of(node, required(node, 1))};
  made.output = t.output_of(node);
  t.append(std::move(made));
}

void translate_clamp(Translator& t, Node& node, const NodeKinds& kinds) {
  PayloadNode made = t.make(node, kinds[0]);
  made.bounds = Bounds{static_cast<float>(Call(node).real("min", -kInfinity)),
                       static_cast<float>(Call(node).real("max", kInfinity))};
  t.append_call(node, std::move(made));
}

void translate_hardtanh(Translator& t, Node& node, const NodeKinds& kinds) {
  PayloadNode made = t.make(node, kinds[0]);
  made.bounds = Bounds{static_cast<float>(Call(node).real("min_val")),
                       static_cast<float>(Call(node).real("max_val"))};
  t.append_call(node, std::move(made));
}

void translate_relu(Translator& t, Node& node, const NodeKinds& kinds) {
  PayloadNode made = t.make(node, kinds[0]);
  made.bounds = Bounds{0.0f, kInfinity};
  t.append_call(node, std::move(made));
}

// The payload's Gelu node computes the exact function. The tanh approximation needs several nodes:
// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))).
void translate_gelu(Translator& t, Node& node, const NodeKinds& kinds) {
  const Argument* approximation = Call(node).find("approximate");
  const auto* name = approximation == nullptr ? nullptr : approximation->get<std::string>();
  if (name == nullptr || *name != "tanh") {
    return translate_unary(t, node, kinds);
  }
  const auto step = [&](NodeKind kind, std::vector<uint32_t> inputs, bool is_last = false) {
    PayloadNode made = t.make(node, kind);
    made.inputs = std::move(inputs);
    made.output = is_last ? t.output_of(node) : t.output_like(node, t.dims_of(node));
    const uint32_t output = made.output;
    t.append(std::move(made));
    return output;
  };
  const auto number = [&](float value) {
    PayloadValue constant;
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

void translate_leaky_relu(Translator& t, Node& node, const NodeKinds& kinds) {
  PayloadNode made = t.make(node, kinds[0]);
  made.parameter = static_cast<float>(Call(node).real("negative_slope"));
  t.append_call(node, std::move(made));
}

void translate_cat(Translator& t, Node& node, const NodeKinds& kinds) {
  const Argument* list = Call(node).find("tensors");
  const ArgumentList* items = list == nullptr ? nullptr : list->list();
  if (items == nullptr || items->size() < 2 || items->size() > 5) {
    t.refuse(node, "it must have 2 to 5 inputs");
  }
  PayloadNode made = t.make(node, kinds[items->size() - 2]);
  for (const Argument& item : *items) {
    if (item.node() == nullptr) t.refuse(node, "an input is not a tensor");
    made.inputs.push_back(t.input_of(node, *item.node()));
  }
  made.axis =
      static_cast<uint32_t>(wrapped_dim(node, Call(node).integer("dim"), spec_of(node).rank()));
  made.output = t.output_of(node);
  t.append(std::move(made));
}

void translate_permute(Translator& t, Node& node, const NodeKinds& kinds) {
  PayloadNode made = t.make(node, kinds[0]);
  const size_t rank = spec_of(node).rank();
  if (calls_op(node, "t_copy.default") && rank == 2) {
    made.list = {1, 0};
  } else {
    for (const int64_t dim : Call(node).integers("dims", rank)) {
      made.list.push_back(static_cast<uint32_t>(wrapped_dim(node, dim, rank)));
    }
  }
  if (made.list.size() != rank) t.refuse(node, "its dims are not a permutation of all dims");
  t.append_call(node, std::move(made));
}

// XNNPACK infers a dynamic size that is written as 0.
void translate_reshape(Translator& t, Node& node, const NodeKinds& kinds) {
  PayloadNode made = t.make(node, kinds[0]);
  const std::vector<uint32_t> dims = t.dims_of(node);
  const std::vector<SymInt>& sizes = spec_of(node).sizes;
  std::vector<int64_t> asked;
  if (calls_op(node, "view_copy.default")) asked = Call(node).integers("size");
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool is_inferred =
        i < asked.size() ? asked[i] == -1 : i < sizes.size() && !sizes[i].is_static();
    made.list.push_back(is_inferred ? 0 : dims[i]);
  }
  if (std::ranges::count(made.list, 0U) > 1) t.refuse(node, "more than one size is dynamic");
  t.append_call(node, std::move(made));
}

void translate_slice(Translator& t, Node& node, const NodeKinds& kinds) {
  PayloadNode made = t.make(node, kinds[0]);
  const TensorSpec& input = spec_of(required(node, 0));
  const size_t dim = wrapped_dim(node, Call(node).integer("dim"), input.rank());
  int64_t start = Call(node).integer("start", 0);
  if (input.sizes[dim].is_static()) {
    const int64_t size = input.sizes[dim].value();
    start = std::clamp<int64_t>(start < 0 ? start + size : start, 0, size);
  } else if (start < 0 || start > std::numeric_limits<int32_t>::max()) {
    t.refuse(node, "its dim has a dynamic size, so its start must be from 0 to 2^31 - 1");
  }
  made.list.assign(input.rank(), 0);
  made.list[dim] = t.size_of(node, start);
  made.second_list = t.dims_of(node);
  t.append_call(node, std::move(made));
}

void translate_pad(Translator& t, Node& node, const NodeKinds& kinds) {
  PayloadNode made = t.make(node, kinds[0]);
  const size_t rank = spec_of(node).rank();
  const std::vector<int64_t> padding = Call(node).integers("pad");
  if (padding.size() % 2 != 0 || padding.size() / 2 > rank) {
    t.refuse(node, "its padding has more dims than its input");
  }
  made.list.assign(rank, 0);
  made.second_list.assign(rank, 0);
  // The list `pad` begins with the padding of the last dim.
  for (size_t i = 0; i < padding.size() / 2; ++i) {
    made.list[rank - 1 - i] = t.size_of(node, padding[2 * i]);
    made.second_list[rank - 1 - i] = t.size_of(node, padding[2 * i + 1]);
  }
  made.parameter = static_cast<float>(Call(node).real("value"));
  t.append_call(node, std::move(made));
}

void translate_copy(Translator& t, Node& node, const NodeKinds& kinds) {
  const TensorSpec& spec = spec_of(node);
  if (spec.dtype != spec_of(required(node, 0)).dtype) return translate_unary(t, node, {kinds[2]});
  PayloadNode made = t.make(node, kinds[0]);
  made.wants_channels_last =
      spec.rank() == 4 && kept_dim_order(spec) == std::vector<uint8_t>{0, 2, 3, 1};
  t.append_call(node, std::move(made));
}

void translate_mean(Translator& t, Node& node, const NodeKinds& kinds) {
  PayloadNode made = t.make(node, kinds[0]);
  made.flags = kKeepDims;
  t.append_call(node, std::move(made));
}

void translate_upsample(Translator& t, Node& node, const NodeKinds& kinds) {
  PayloadNode made = t.make(node, kinds[0]);
  const std::vector<uint32_t> dims = t.dims_of(node);
  if (dims.size() != 4) t.refuse(node, "the result does not have four dims");
  made.new_height = dims[2];
  made.new_width = dims[3];
  made.flags = Call(node).boolean("align_corners") ? kAlignCorners : 0;
  t.append_call(node, std::move(made));
}

}  // namespace vitrine::aot::xnnpack
