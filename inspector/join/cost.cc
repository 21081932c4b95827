#include "inspector/join/cost.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "inspector/join/op_names.h"

namespace vitrine::inspector {
namespace {

using etrecord::EdgeArgument;
using etrecord::EdgeGraph;
using etrecord::EdgeNode;
using etrecord::EdgeValue;

// By torch.export's number of a dtype.
constexpr double kBytesOfDtype[] = {0, 1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 2};
constexpr int kFloat32 = 7;

double elements(const EdgeValue& value) {
  return std::accumulate(value.sizes.begin(), value.sizes.end(), 1.0,
                         [](double count, int64_t n) { return count * static_cast<double>(n); });
}

std::optional<double> bytes(const EdgeValue& value) {
  const auto dtype = static_cast<size_t>(value.dtype);
  if (!value.is_static || value.dtype < 1 || dtype >= std::size(kBytesOfDtype)) return std::nullopt;
  return elements(value) * kBytesOfDtype[dtype];
}

// A node with its graph, as formulas see it.
struct Call {
  const EdgeNode& node;
  const EdgeGraph& graph;

  const EdgeArgument* argument(std::string_view name) const {
    const auto found = std::find_if(node.arguments.begin(), node.arguments.end(),
                                    [&](const EdgeArgument& arg) { return arg.name == name; });
    return found == node.arguments.end() ? nullptr : &*found;
  }
  const EdgeValue* tensor(std::string_view name) const {
    const EdgeArgument* found = argument(name);
    return found == nullptr || found->values.empty() ? nullptr : &graph.values[found->values[0]];
  }
  const EdgeValue* first_input() const {
    for (const EdgeArgument& arg : node.arguments) {
      if (!arg.values.empty()) return &graph.values[arg.values[0]];
    }
    return nullptr;
  }
  const EdgeValue* result() const {
    return node.results.empty() ? nullptr : &graph.values[node.results[0]];
  }
};
using Flops = std::optional<double>;

Flops none(const Call&, double) { return 0.0; }

Flops per_result(const Call& call, double each) {
  const EdgeValue* result = call.result();
  if (result == nullptr || !result->is_static) return std::nullopt;
  return each * elements(*result);
}

Flops per_input(const Call& call, double each) {
  const EdgeValue* input = call.first_input();
  if (input == nullptr || !input->is_static) return std::nullopt;
  return each * elements(*input);
}

// Of the weight [out, in / groups, kernel...], each result takes all but the first dimension; of a
// transposed convolution's [in, out / groups, kernel...], each input gives to all but the first.
Flops convolution(const Call& call, double each) {
  const EdgeValue* weight = call.tensor("weight");
  const EdgeArgument* transposed = call.argument("transposed");
  const bool is_transposed =
      transposed != nullptr && !transposed->integers.empty() && transposed->integers[0] != 0;
  const EdgeValue* moved = is_transposed ? call.first_input() : call.result();
  if (weight == nullptr || !weight->is_static || weight->sizes.empty() || moved == nullptr ||
      !moved->is_static) {
    return std::nullopt;
  }
  const double taps = std::accumulate(
      weight->sizes.begin() + 1, weight->sizes.end(), 1.0,
      [](double product, int64_t size) { return product * static_cast<double>(size); });
  return each * elements(*moved) * taps;
}

// [.., m, k] x [.., k, n]: every result is a sum over k, the last dimension of the left side.
Flops product_of(const Call& call, const EdgeValue* left, double each) {
  const EdgeValue* result = call.result();
  if (left == nullptr || !left->is_static || left->sizes.empty() || result == nullptr ||
      !result->is_static) {
    return std::nullopt;
  }
  return each * elements(*result) * static_cast<double>(left->sizes.back());
}
Flops product(const Call& call, double each) { return product_of(call, call.first_input(), each); }
Flops added_product(const Call& call, double each) {
  const EdgeValue* left = call.tensor("mat1");
  return product_of(call, left == nullptr ? call.tensor("batch1") : left, each);
}

Flops pooling(const Call& call, double each) {
  const EdgeArgument* kernel = call.argument("kernel_size");
  const EdgeValue* result = call.result();
  if (kernel == nullptr || kernel->integers.empty() || result == nullptr || !result->is_static) {
    return std::nullopt;
  }
  double window = 1;
  for (const int64_t size : kernel->integers) window *= static_cast<double>(size);
  if (kernel->integers.size() == 1) window *= window;  // square
  return each * elements(*result) * window;
}

struct Formula {
  std::string_view op;  // base name
  Flops (*flops)(const Call&, double each);
  double each = 1;
};
constexpr Formula kFormulas[] = {
    {"convolution", convolution, 2},
    {"linear", product, 2},
    {"mm", product, 2},
    {"bmm", product, 2},
    {"matmul", product, 2},
    {"addmm", added_product, 2},
    {"baddbmm", added_product, 2},
    {"max_pool2d", pooling},
    {"max_pool2d_with_indices", pooling},
    {"avg_pool2d", pooling},
    {"mean", per_input},
    {"sum", per_input},
    {"prod", per_input},
    {"any", per_input},
    {"all", per_input},
    {"amax", per_input},
    {"amin", per_input},
    {"max", per_input},
    {"min", per_input},
    {"argmax", per_input},
    {"argmin", per_input},
    {"cumsum", per_input},
    {"var", per_input, 4},
    {"_adaptive_avg_pool2d", per_input},
    {"_softmax", per_input, 5},      // maximum, difference, exp, sum, quotient
    {"_log_softmax", per_input, 5},  // and logarithm of the sum, once a row
    {"native_layer_norm", per_input, 8},
    {"native_group_norm", per_input, 8},
    {"_native_batch_norm_legit", per_input, 8},
    {"_native_batch_norm_legit_no_training", per_input, 2},
    {"add", per_result},
    {"sub", per_result},
    {"rsub", per_result},
    {"mul", per_result},
    {"div", per_result},
    {"pow", per_result},
    {"remainder", per_result},
    {"maximum", per_result},
    {"minimum", per_result},
    {"abs", per_result},
    {"ceil", per_result},
    {"floor", per_result},
    {"round", per_result},
    {"neg", per_result},
    {"sign", per_result},
    {"sqrt", per_result},
    {"rsqrt", per_result},
    {"reciprocal", per_result},
    {"exp", per_result},
    {"log", per_result},
    {"sin", per_result},
    {"cos", per_result},
    {"tan", per_result},
    {"tanh", per_result},
    {"erf", per_result},
    {"sigmoid", per_result},
    {"relu", per_result},
    {"clamp", per_result, 2},
    {"hardtanh", per_result, 2},
    {"hardswish", per_result, 5},
    {"leaky_relu", per_result, 2},
    {"prelu", per_result, 2},
    {"elu", per_result, 3},
    {"gelu", per_result, 5},
    {"eq", per_result},
    {"ne", per_result},
    {"gt", per_result},
    {"ge", per_result},
    {"lt", per_result},
    {"le", per_result},
    {"logical_not", per_result},
    {"logical_and", per_result},
    {"logical_or", per_result},
    {"bitwise_not", per_result},
    {"bitwise_and", per_result},
    {"bitwise_or", per_result},
    {"where", per_result},
    {"upsample_bilinear2d", per_result, 8},
    {"quantize_per_tensor", per_result, 2},
    {"quantize_per_channel", per_result, 2},
    {"quantize_per_token", per_result, 2},
    {"dequantize_per_tensor", per_result, 2},
    {"dequantize_per_channel", per_result, 2},
    {"dequantize_per_token", per_result, 2},
    {"quantize_affine", per_result, 2},
    {"dequantize_affine", per_result, 2},
    // They only move data.
    {"_clone_dim_order", none},
    {"_to_dim_order_copy", none},
    {"_to_copy", none},
    {"clone", none},
    {"copy", none},
    {"alias_copy", none},
    {"cat", none},
    {"stack", none},
    {"constant_pad_nd", none},
    {"embedding", none},
    {"expand_copy", none},
    {"flip", none},
    {"full", none},
    {"full_like", none},
    {"gather", none},
    {"index", none},
    {"index_put", none},
    {"index_select", none},
    {"permute_copy", none},
    {"repeat", none},
    {"scalar_tensor", none},
    {"select_copy", none},
    {"slice_copy", none},
    {"slice_scatter", none},
    {"split_copy", none},
    {"split_with_sizes_copy", none},
    {"squeeze_copy", none},
    {"t_copy", none},
    {"transpose_copy", none},
    {"unbind_copy", none},
    {"unsqueeze_copy", none},
    {"upsample_nearest2d", none},
    {"view_copy", none},
};

constexpr std::string_view kFoldedParameters[] = {"_native_batch_norm_legit_no_training",
                                                  "_native_batch_norm_legit"};

class CostMaker {
 public:
  CostMaker(const std::vector<RowSource>& rows, const EdgeGraph& graph)
      : rows_(rows), graph_(graph) {
    users_.resize(graph.values.size());
    producer_.assign(graph.values.size(), kNoNode);
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      for (const size_t value : graph.nodes[i].results) producer_[value] = i;
      for (const EdgeArgument& arg : graph.nodes[i].arguments) {
        for (const size_t value : arg.values) users_[value].push_back(i);
      }
    }
    for (const RowSource& row : rows) {
      if (row.is_of_whole_call || row.nodes.empty()) continue;
      for (const size_t node : row.nodes) ++rows_of_node_[node];
      ++rows_of_main_[row.nodes[row.main_node]];
    }
  }

  std::vector<std::optional<Cost>> make() const {
    std::vector<std::optional<Cost>> costs;
    costs.reserve(rows_.size());
    for (const RowSource& row : rows_) costs.push_back(cost(row));
    return costs;
  }

 private:
  static constexpr size_t kNoNode = SIZE_MAX;

  std::optional<Cost> cost(const RowSource& row) const {
    if (row.is_of_whole_call || row.nodes.empty()) return std::nullopt;
    std::vector<size_t> own = row.nodes;
    const bool shares = std::any_of(own.begin(), own.end(),
                                    [&](size_t node) { return rows_of_node_.at(node) > 1; });
    if (shares) {
      own = {row.nodes[row.main_node]};
      if (rows_of_main_.at(own[0]) > 1) return std::nullopt;
    }
    Cost cost{.flops = 0, .bytes = 0, .is_float32 = true};
    for (const size_t node : own) {
      const Flops flops = flops_of(graph_.nodes[node], graph_);
      if (!flops.has_value()) return std::nullopt;
      cost.flops += *flops;
    }
    std::unordered_set<size_t> inside(own.begin(), own.end());
    inside.insert(row.folded_nodes.begin(), row.folded_nodes.end());
    std::unordered_set<size_t> counted;
    for (const size_t node : inside) {
      if (!add_tensors(node, inside, counted, cost)) return std::nullopt;
    }
    return cost;
  }

  // Tensors that cross the row's border. False if a size is unknown.
  bool add_tensors(size_t index, const std::unordered_set<size_t>& inside,
                   std::unordered_set<size_t>& counted, Cost& cost) const {
    const EdgeNode& node = graph_.nodes[index];
    const bool drops_parameters =
        inside.size() > 1 && std::count(std::begin(kFoldedParameters), std::end(kFoldedParameters),
                                        base_name(node.target)) != 0;
    const auto add = [&](size_t value) {
      if (!counted.insert(value).second) return true;
      const std::optional<double> size = bytes(graph_.values[value]);
      cost.bytes += size.value_or(0);
      cost.is_float32 &= graph_.values[value].dtype == kFloat32;
      return size.has_value();
    };
    for (const EdgeArgument& arg : node.arguments) {
      for (const size_t value : arg.values) {
        if (inside.contains(producer_[value])) continue;
        if (graph_.values[value].is_constant && drops_parameters) continue;
        if (!add(value)) return false;
      }
    }
    for (const size_t value : node.results) {
      const auto is_inside = [&](size_t user) { return inside.contains(user); };
      const bool stays = !users_[value].empty() &&
                         std::all_of(users_[value].begin(), users_[value].end(), is_inside);
      // Second results that nothing uses (a batch norm's statistics) are not written.
      const bool is_unused_extra = users_[value].empty() && value != node.results[0];
      if (!stays && !is_unused_extra && !add(value)) return false;
    }
    return true;
  }

  const std::vector<RowSource>& rows_;
  const EdgeGraph& graph_;
  std::vector<std::vector<size_t>> users_;  // by value
  std::vector<size_t> producer_;            // by value
  std::unordered_map<size_t, size_t> rows_of_node_;
  std::unordered_map<size_t, size_t> rows_of_main_;
};

}  // namespace

std::optional<double> flops_of(const EdgeNode& node, const EdgeGraph& graph) {
  const std::string_view op = base_name(node.target);
  const auto* formula = std::find_if(std::begin(kFormulas), std::end(kFormulas),
                                     [&](const Formula& known) { return known.op == op; });
  if (formula == std::end(kFormulas)) return std::nullopt;
  return formula->flops({node, graph}, formula->each);
}

std::vector<std::optional<Cost>> row_costs(const std::vector<RowSource>& rows,
                                           const EdgeGraph& graph) {
  return CostMaker(rows, graph).make();
}

}  // namespace vitrine::inspector
