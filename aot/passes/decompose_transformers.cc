// Decompositions of the operators that torch.nn.MultiheadAttention and TransformerEncoderLayer call
// where no gradients are asked for.
#include <array>
#include <cmath>
#include <limits>

#include "aot/passes/calls.h"

namespace vitrine::aot {
namespace {

// Queries, keys and values of one product, and what follows attention.
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
  return to.make("aten.linear.default", {x, weight, bias});
}

// True where a query must not see a key. By its type it is of queries and keys, of keys by batch,
// or has all dims.
Node* hidden_of(Decomposition& to, Node* mask, const Argument& type) {
  const Calls f(to);
  if (mask->tensor()->dtype != ScalarType::kBool) mask = f.compare("ne", mask, 0);
  const auto* kind = type.get<int64_t>();
  if (kind == nullptr) to.refuse("the type of its mask is not known");
  if (*kind == 1 && rank_of(mask) == 2) return f.unsqueeze(f.unsqueeze(mask, 1), 1);
  if ((*kind == 0 && rank_of(mask) == 2) || (*kind == 2 && rank_of(mask) == 4)) return mask;
  to.refuse("its mask is of another shape than its type");
}

// x attends to itself: [batch, length, width].
Attention self_attention(Decomposition& to, Node* x, const Projections& with, int64_t heads,
                         Node* hidden) {
  const Calls f(to);
  if (rank_of(x) != 3 || !size_at(x, 2).is_static()) to.refuse("its input is of another shape");
  const int64_t width = size_at(x, 2).value();
  if (heads < 1 || width < heads || width % heads != 0) to.refuse("its heads do not divide it");
  const SymInt batch = size_at(x, 0);
  const SymInt length = size_at(x, 1);
  Node* all = linear(to, x, with.weight, with.bias);
  if (!(size_at(all, 2) == SymInt(3) * SymInt(width)))
    to.refuse("its weights are of another width");
  std::array<Node*, 3> parts = {};
  for (size_t i = 0; i < 3; ++i) {
    const auto begin = static_cast<int64_t>(i) * width;
    Node* part = f.slice(all, 2, begin, begin + width);
    part = to.reshape(part, {batch, length, SymInt(heads), SymInt(width / heads)});
    parts[i] = to.permute(part, {0, 2, 1, 3});
  }
  Node* query = f.mul(parts[0], 1 / std::sqrt(static_cast<double>(width / heads)));
  Node* scores = to.make("aten.matmul.default", {query, to.transpose(parts[1], 2, 3)});
  if (hidden != nullptr) {
    scores = f.where(hidden, -std::numeric_limits<double>::infinity(), scores);
  }
  Attention found;
  found.weights = f("_softmax", scores, -1, false);
  Node* values = to.make("aten.matmul.default", {found.weights, parts[2]});
  values = to.reshape(to.permute(values, {0, 2, 1, 3}), {batch, length, SymInt(width)});
  found.result = linear(to, values, with.out_weight, with.out_bias);
  return found;
}

// (query, key, value, embed_dim, num_head, qkv_weight, qkv_bias, proj_weight, proj_bias, mask,
// need_weights, average_attn_weights, mask_type)
void multi_head_attention(Decomposition& to) {
  const Calls f(to);
  Node* x = to.tensor(0);
  if (to.tensor(1) != x || to.tensor(2) != x) to.refuse("its input attends to something else");
  Node* mask = tensor_of(to, 9, "mask");
  Node* hidden = mask == nullptr ? nullptr : hidden_of(to, mask, to.arg(12, "mask_type"));
  const Attention found =
      self_attention(to, x, {to.tensor(5), to.tensor(6), to.tensor(7), to.tensor(8)},
                     to.integer(4, "num_head", 1), hidden);
  std::vector<Node*> results = {found.result};
  if (to.boolean(10, "need_weights", true)) {
    const bool averages = to.boolean(11, "average_attn_weights", true);
    results.push_back(averages ? f.mean(found.weights, {1}) : found.weights);
  }
  to.replace_items(results);
}

// (src, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, use_gelu, norm_first,
// eps, norm_weight_1, norm_bias_1, norm_weight_2, norm_bias_2, ffn_weight_1, ffn_bias_1,
// ffn_weight_2, ffn_bias_2, mask, mask_type)
void encoder_layer(Decomposition& to) {
  const Calls f(to);
  Node* x = to.tensor(0);
  const std::vector<int64_t> shape = {to.integer(1, "embed_dim", 0)};
  const bool norm_first = to.boolean(8, "norm_first", false);
  const Argument eps = to.arg(9, "eps", 1e-5);
  const auto norm = [&](Node* values, size_t weight) {
    return to.make("aten.layer_norm.default",
                   {values, shape, to.tensor(weight), to.tensor(weight + 1), eps});
  };
  const auto attend = [&](Node* values) {
    Node* mask = tensor_of(to, 18, "mask");
    Node* hidden = mask == nullptr ? nullptr : hidden_of(to, mask, to.arg(19, "mask_type"));
    return self_attention(to, values, {to.tensor(3), to.tensor(4), to.tensor(5), to.tensor(6)},
                          to.integer(2, "num_heads", 1), hidden)
        .result;
  };
  const auto feed = [&](Node* values) {
    Node* inner = linear(to, values, to.tensor(14), to.tensor(15));
    inner = f(to.boolean(7, "use_gelu", false) ? "gelu" : "relu", inner);
    return linear(to, inner, to.tensor(16), to.tensor(17));
  };
  if (norm_first) {
    x = f.add(x, attend(norm(x, 10)));
    return to.replace(f.add(x, feed(norm(x, 12))));
  }
  x = norm(f.add(x, attend(x)), 10);
  to.replace(norm(f.add(x, feed(x)), 12));
}

constexpr std::array kTransformerDecompositions = {
    DecompositionRow{"aten._native_multi_head_attention.default", multi_head_attention},
    DecompositionRow{"aten._transformer_encoder_layer_fwd.default", encoder_layer},
};

}  // namespace

std::span<const DecompositionRow> transformer_decompositions() {
  return kTransformerDecompositions;
}

}  // namespace vitrine::aot
