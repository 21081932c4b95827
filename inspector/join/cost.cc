#include "inspector/join/cost.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "inspector/join/op_names.h"
#include "operators/flops.h"

namespace vitrine::inspector {
namespace {

using etrecord::EdgeArgument;
using etrecord::EdgeGraph;
using etrecord::EdgeNode;
using etrecord::EdgeValue;

std::optional<double> elements_of(const EdgeValue& value) {
  if (!value.is_static) return std::nullopt;
  return std::accumulate(value.sizes.begin(), value.sizes.end(), 1.0,
                         [](double count, int64_t n) { return count * static_cast<double>(n); });
}

std::optional<double> bytes(const EdgeValue& value) {
  if (!value.is_static || !value.dtype) return std::nullopt;
  return *elements_of(value) * static_cast<double>(element_size(*value.dtype));
}

// Provides the sizes of a node's arguments and results to the operator table, which counts FLOPs.
class RecordedCall : public CallSizes {
 public:
  RecordedCall(const EdgeNode& node, const EdgeGraph& graph) : node_(node), graph_(graph) {}

  std::optional<double> result_elements() const override {
    return node_.results.empty() ? std::nullopt : elements_of(graph_.values[node_.results[0]]);
  }
  std::optional<double> elements(std::string_view argument) const override {
    const EdgeValue* value = tensor(argument);
    return value == nullptr ? std::nullopt : elements_of(*value);
  }
  std::vector<double> sizes(std::string_view argument) const override {
    const EdgeValue* value = tensor(argument);
    if (value == nullptr || !value->is_static) return {};
    return {value->sizes.begin(), value->sizes.end()};
  }
  std::vector<int64_t> integers(std::string_view argument) const override {
    const EdgeArgument* found = find(argument);
    return found == nullptr ? std::vector<int64_t>() : found->integers;
  }

 private:
  const EdgeArgument* find(std::string_view name) const {
    const auto found = std::ranges::find(node_.arguments, name, &EdgeArgument::name);
    return found == node_.arguments.end() ? nullptr : &*found;
  }
  const EdgeValue* tensor(std::string_view name) const {
    const EdgeArgument* found = find(name);
    return found == nullptr || found->values.empty() ? nullptr : &graph_.values[found->values[0]];
  }

  const EdgeNode& node_;
  const EdgeGraph& graph_;
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
      if (row.has_all_ops_of_call || row.nodes.empty()) continue;
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
    if (row.has_all_ops_of_call || row.nodes.empty()) return std::nullopt;
    std::vector<size_t> own = row.nodes;
    const bool shares = std::any_of(own.begin(), own.end(),
                                    [&](size_t node) { return rows_of_node_.at(node) > 1; });
    if (shares) {
      own = {row.nodes[row.main_node]};
      if (rows_of_main_.at(own[0]) > 1) return std::nullopt;
    }
    Cost cost{.flops = 0, .bytes = 0, .is_float32 = true};
    for (const size_t node : own) {
      const std::optional<double> flops = flops_of(graph_.nodes[node], graph_);
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

  // Adds the bytes of tensors that enter or leave the row. Returns false if a size is unknown.
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
      cost.is_float32 &= graph_.values[value].dtype == ScalarType::kFloat;
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
      // Results that no node uses, such as a batch norm's statistics, do not count. The first
      // result counts even if no node uses it.
      const bool is_unused_extra = users_[value].empty() && value != node.results[0];
      if (!stays && !is_unused_extra && !add(value)) return false;
    }
    return true;
  }

  const std::vector<RowSource>& rows_;
  const EdgeGraph& graph_;
  std::vector<std::vector<size_t>> users_;  // indexed by value
  std::vector<size_t> producer_;            // indexed by value
  std::unordered_map<size_t, size_t> rows_of_node_;
  std::unordered_map<size_t, size_t> rows_of_main_;
};

}  // namespace

std::optional<double> flops_of(const EdgeNode& node, const EdgeGraph& graph) {
  const Operator* op = find_operator(node.target);
  if (op == nullptr) return std::nullopt;
  return count_flops(*op, RecordedCall(node, graph));
}

std::vector<std::optional<Cost>> row_costs(const std::vector<RowSource>& rows,
                                           const EdgeGraph& graph) {
  return CostMaker(rows, graph).make();
}

bool beats_limits(const Profile& profile) {
  constexpr double kTolerance = 1.05;
  if (!profile.run.limits) return false;
  return std::ranges::any_of(profile.rows, [&](const ProfileRow& row) {
    return row.cost && row.cost->is_float32 && row.time.p50 > 0 &&
           row.cost->flops * 1e9 / row.time.p50 > kTolerance * profile.run.limits->flops_per_s;
  });
}

std::optional<double> share_of_limits(const Cost& cost, double ns, const MachineLimits& limits) {
  const bool has_flops = cost.flops > 0;
  if (ns <= 0 || limits.bytes_per_s <= 0 || (has_flops && limits.flops_per_s <= 0)) {
    return std::nullopt;
  }
  if (has_flops && !cost.is_float32) return std::nullopt;
  const double arithmetic = has_flops ? cost.flops / limits.flops_per_s : 0;
  const double memory = cost.bytes / limits.bytes_per_s;
  return std::max(arithmetic, memory) * 1e9 / ns;
}

}  // namespace vitrine::inspector
