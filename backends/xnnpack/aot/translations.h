// Functions that translate calls to XNNPACK nodes. The rows of operator_table.h refer to them.
#pragma once

#include <array>

#include "backends/xnnpack/aot/payload_graph.h"

namespace vitrine::aot {
class Node;
}

namespace vitrine::aot::xnnpack {

class Translator;

// The node kinds of a row of the operator table. Unused elements are NONE.
using NodeKinds = std::array<NodeKind, 4>;

// Appends the nodes of the call to the translator's graph. AotErrors name the node.
using Translation = void (*)(Translator& t, Node& node, const NodeKinds& kinds);

void translate_unary(Translator& t, Node& node, const NodeKinds& kinds);
void translate_binary(Translator& t, Node& node, const NodeKinds& kinds);
void translate_clamp(Translator& t, Node& node, const NodeKinds& kinds);
void translate_hardtanh(Translator& t, Node& node, const NodeKinds& kinds);
void translate_relu(Translator& t, Node& node, const NodeKinds& kinds);
void translate_gelu(Translator& t, Node& node, const NodeKinds& kinds);
void translate_leaky_relu(Translator& t, Node& node, const NodeKinds& kinds);

void translate_cat(Translator& t, Node& node, const NodeKinds& kinds);
void translate_permute(Translator& t, Node& node, const NodeKinds& kinds);
void translate_reshape(Translator& t, Node& node, const NodeKinds& kinds);
void translate_slice(Translator& t, Node& node, const NodeKinds& kinds);
void translate_pad(Translator& t, Node& node, const NodeKinds& kinds);
void translate_copy(Translator& t, Node& node, const NodeKinds& kinds);

void translate_average_pool(Translator& t, Node& node, const NodeKinds& kinds);
void translate_max_pool(Translator& t, Node& node, const NodeKinds& kinds);
void translate_amax(Translator& t, Node& node, const NodeKinds& kinds);
void translate_mean(Translator& t, Node& node, const NodeKinds& kinds);
void translate_upsample(Translator& t, Node& node, const NodeKinds& kinds);

// `kinds`: plain, depthwise and transposed convolutions, in this order.
void translate_convolution(Translator& t, Node& node, const NodeKinds& kinds);
void translate_linear(Translator& t, Node& node, const NodeKinds& kinds);

}  // namespace vitrine::aot::xnnpack
