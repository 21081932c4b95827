#include "inspector/join/payload_join.h"

#include <map>
#include <set>
#include <string_view>

#include "inspector/join/op_names.h"
#include "inspector/join/order_match.h"

namespace vitrine::inspector {

PayloadJoin join_payload(const MergedTrace& trace, const std::vector<size_t>& rows,
                         const ProgramDelegate* content, const std::vector<size_t>& nodes,
                         const etrecord::EdgeGraph& graph, const DelegateProfile& profile) {
  PayloadJoin result;
  std::vector<std::string_view> identifiers;
  for (const size_t row : rows) identifiers.push_back(trace.rows[row].delegate_name);
  static const std::vector<std::string> kUnknown;
  result.operators =
      profile.payload_operators(identifiers, content == nullptr ? kUnknown : content->operators);
  if (result.operators.size() != rows.size()) return {};
  const std::vector<std::optional<PayloadOperator>>& events = result.operators;
  result.nodes.resize(events.size());
  std::map<size_t, std::string_view> operators;  // names in order of execution
  for (const std::optional<PayloadOperator>& event : events) {
    if (event.has_value()) operators.try_emplace(event->index, event->name);
  }
  std::vector<std::string_view> names, ops;
  for (const auto& [index, name] : operators) names.push_back(name);
  for (const size_t node : nodes) ops.push_back(base_name(graph.nodes[node].target));
  const std::vector<OrderMatch> matches = match_in_order(names, ops, profile);
  std::map<size_t, size_t> node_of_operator;
  std::set<size_t> used;
  size_t k = 0;
  for (const auto& [index, name] : operators) {
    // match_in_order() may match several operators with the same op. The op's node then belongs to
    // the first of these operators.
    const std::optional<size_t> op = matches[k++].op;
    if (op.has_value() && used.insert(*op).second) node_of_operator.emplace(index, nodes[*op]);
  }
  std::map<size_t, size_t> event_of_node;  // the first event
  for (size_t event = 0; event < events.size(); ++event) {
    if (!events[event].has_value()) continue;
    const auto found = node_of_operator.find(events[event]->index);
    if (found == node_of_operator.end()) continue;
    result.nodes[event] = found->second;
    event_of_node.try_emplace(found->second, event);
  }
  // Both maps give, for a node, the event of the nearest node that has an operator. The search for
  // `before` goes toward inputs, and the search for `behind` toward users.
  std::map<size_t, size_t> before, behind;
  const auto spread = [&](size_t from, size_t to, std::map<size_t, size_t>& nearest) {
    const auto found = nearest.find(from);
    if (found != nearest.end()) nearest.try_emplace(to, found->second);
  };
  for (const auto& [node, event] : event_of_node) {
    before.emplace(node, event);
    behind.emplace(node, event);
  }
  const std::set<size_t> members(nodes.begin(), nodes.end());
  for (const size_t node : nodes) {
    for (const size_t input : graph.nodes[node].inputs) {
      if (members.contains(input)) spread(input, node, before);
    }
  }
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    for (const size_t input : graph.nodes[*node].inputs) {
      if (members.contains(input)) spread(*node, input, behind);
    }
  }
  for (const size_t node : nodes) {
    if (event_of_node.contains(node)) continue;
    const bool is_users = base_name(graph.nodes[node].target).starts_with("dequantize");
    for (const auto* nearest : {is_users ? &behind : &before, is_users ? &before : &behind}) {
      const auto event = nearest->find(node);
      if (event == nearest->end()) continue;
      result.folds.emplace_back(node, event->second);
      break;
    }
  }
  return result;
}

}  // namespace vitrine::inspector
