// Decompositions of operators that torch.nn.MultiheadAttention and TransformerEncoderLayer call.
#include <array>
#include <cmath>
#include <limits>

#include "aot/operators/decompositions.h"

namespace vitrine::aot::decompositions {
namespace {

// The weights of attention: a combined projection for queries, keys and values, and a projection
// for the output.
struct Projections {
  Node* weight = nullptr;
  Node* bias = nullptr;
  Node* out_weight = nullptr;
  Node* out_bias = nullptr;
};

struct Attention {
  Node* result = nullptr;
  Node* weights = nullptr;  // [batch, heads, queries, keys]
};

Node* linear(Decomposition& to, Node* x, Node* weight, Node* bias) {
  return to("linear", x, weight, bias);
}

// Returns a mask that is true where a query must not see a key. `mask` is [query, key] if `type` is
// 0, [batch, key] if `type` is 1, and [batch, head, query, key] if `type` is 2.
Node* hidden_of(Decomposition& to, Node* mask, const Argument& type) {
  if (mask->tensor()->dtype != ScalarType::kBool) mask = to.compare("ne", mask, 0);
  const auto* kind = type.get<int64_t>();
  if (kind == nullptr) to.refuse("mask_type must be an integer");
  if (*kind == 1 && rank_of(mask) == 2) return to.unsqueeze(to.unsqueeze(mask, 1), 1);
  if ((*kind == 0 && rank_of(mask) == 2) || (*kind == 2 && rank_of(mask) == 4)) return mask;
  to.refuse("the shape of mask does not match mask_type");
}

// Computes self-attention of x, which is [batch, length, width].
Attention self_attention(Decomposition& to, Node* x, const Projections& projections, int64_t heads,
                         Node* hidden) {
  if (rank_of(x) != 3 || !size_at(x, 2).is_static())
    to.refuse("the input must have 3 dims, and its width must not be symbolic");
  const int64_t width = size_at(x, 2).value();
  if (heads < 1 || width < heads || width % heads != 0)
    to.refuse("the width must be a multiple of the number of heads");
  const SymInt batch = size_at(x, 0);
  const SymInt length = size_at(x, 1);
  Node* all = linear(to, x, projections.weight, projections.bias);
  if (!(size_at(all, 2) == SymInt(3) * SymInt(width)))
    to.refuse("qkv_weight must have 3 times as many rows as the input has columns");
  std::array<Node*, 3> parts = {};
  const int64_t head_width = width / heads;
  for (size_t i = 0; i < 3; ++i) {
    const auto begin = static_cast<int64_t>(i) * width;
    Node* part = to.slice(all, 2, begin, begin + width);
    part = to.reshape(part, {batch, length, SymInt(heads), SymInt(head_width)});
    parts[i] = to.permute(part, {0, 2, 1, 3});
  }
  Node* query = to.mul(parts[0], 1 / std::sqrt(static_cast<double>(head_width)));
  Node* scores = to.make("aten.matmul.default", {query, to.transpose(parts[1], 2, 3)});
  if (hidden != nullptr) {
    scores = to.where(hidden, -std::numeric_limits<double>::infinity(), scores);
  }
  Attention found;
  found.weights = to("_softmax", scores, -1, false);
  Node* values = to("matmul", found.weights, parts[2]);
  values = to.reshape(to.permute(values, {0, 2, 1, 3}), {batch, length, SymInt(width)});
  found.result = linear(to, values, projections.out_weight, projections.out_bias);
  return found;
}

}  // namespace

// Decomposes _native_multi_head_attention(query, key, value, embed_dim, num_head, qkv_weight,
// qkv_bias, proj_weight, proj_bias, mask, need_weights, average_attn_weights, mask_type).
void multi_head_attention(Decomposition& to) {
  Node* x = to.self();
  if (to.tensor("key") != x || to.tensor("value") != x)
    to.refuse("query, key and value must be the same tensor");
  Node* mask = to.optional_tensor("mask");
  Node* hidden = mask == nullptr ? nullptr : hidden_of(to, mask, to.arg("mask_type"));
  const Attention found = self_attention(to, x,
                                         {to.tensor("qkv_weight"), to.tensor("qkv_bias"),
                                          to.tensor("proj_weight"), to.tensor("proj_bias")},
                                         to.integer("num_head"), hidden);
  std::vector<Node*> results = {found.result};
  if (to.boolean("need_weights")) {
    const bool averages = to.boolean("average_attn_weights");
    results.push_back(averages ? to.mean(found.weights, {1}) : found.weights);
  }
  to.replace_items(results);
}

void encoder_layer(Decomposition& to) {
  Node* x = to.self();
  const Dims shape = {to.integer("embed_dim")};
  const bool norm_first = to.boolean("norm_first");
  const Argument eps = to.arg("eps");
  const auto norm = [&](Node* values, const char* weight, const char* bias) {
    return to.make("aten.layer_norm.default",
                   {values, shape, to.tensor(weight), to.tensor(bias), eps});
  };
  const auto attend = [&](Node* values) {
    Node* mask = to.optional_tensor("mask");
    Node* hidden = mask == nullptr ? nullptr : hidden_of(to, mask, to.arg("mask_type"));
    return self_attention(to, values,
                          {to.tensor("qkv_weight"), to.tensor("qkv_bias"), to.tensor("proj_weight"),
                           to.tensor("proj_bias")},
                          to.integer("num_heads"), hidden)
        .result;
  };
  const auto feed_forward = [&](Node* values) {
    Node* inner = linear(to, values, to.tensor("ffn_weight_1"), to.tensor("ffn_bias_1"));
    inner = to(to.boolean("use_gelu") ? "gelu" : "relu", inner);
    return linear(to, inner, to.tensor("ffn_weight_2"), to.tensor("ffn_bias_2"));
  };
  if (norm_first) {
    x = to.add(x, attend(norm(x, "norm_weight_1", "norm_bias_1")));
    return to.replace(to.add(x, feed_forward(norm(x, "norm_weight_2", "norm_bias_2"))));
  }
  x = norm(to.add(x, attend(x)), "norm_weight_1", "norm_bias_1");
  to.replace(norm(to.add(x, feed_forward(x)), "norm_weight_2", "norm_bias_2"));
}

}  // namespace vitrine::aot::decompositions
