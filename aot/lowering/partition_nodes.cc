#include "aot/lowering/partition_nodes.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <unordered_map>
#include <utility>

namespace vitrine::aot {
namespace {

constexpr size_t kNone = SIZE_MAX;

// The units of partitions: groups of nodes, or single nodes. Nodes are identified by position.
class Units {
 public:
  explicit Units(Graph& graph) {
    for (Node& node : graph.nodes()) {
      position_.emplace(&node, nodes_.size());
      nodes_.push_back(&node);
    }
    unit_of_.resize(nodes_.size());
    std::iota(unit_of_.begin(), unit_of_.end(), size_t{0});
    members_.resize(nodes_.size());
    for (size_t i = 0; i < nodes_.size(); ++i) members_[i] = {i};
  }

  size_t size() const { return nodes_.size(); }
  Node* node(size_t position) const { return nodes_[position]; }
  size_t position(const Node* node) const { return position_.at(node); }
  bool has(const Node* node) const { return position_.contains(node); }
  size_t unit_of(const Node* node) const { return unit_of_[position_.at(node)]; }
  // Ascending positions of the unit's nodes. Empty if the unit was merged into another unit.
  const std::vector<size_t>& members(size_t unit) const { return members_[unit]; }

  template <class Visit>
  void for_each_user(size_t unit, Visit&& visit) const {
    for (const size_t member : members_[unit]) {
      for (const Node* user : nodes_[member]->users()) {
        if (const size_t other = unit_of(user); other != unit) visit(other);
      }
    }
  }
  template <class Visit>
  void for_each_input(size_t unit, Visit&& visit) const {
    for (const size_t member : members_[unit]) {
      for (const Node* input : nodes_[member]->inputs()) {
        if (const size_t other = unit_of(input); other != unit) visit(other);
      }
    }
  }

  // Merges nodes into one unit. Returns false, without changes, if a path would lead out of the
  // unit and back in.
  bool join(const std::vector<size_t>& positions) {
    if (positions.size() == 1) return true;
    std::vector<size_t> before;
    before.reserve(positions.size());
    const size_t unit = unit_of_[positions.front()];
    for (const size_t position : positions) {
      before.push_back(std::exchange(unit_of_[position], unit));
    }
    if (is_in_cycle(unit, positions)) {
      for (size_t i = 0; i < positions.size(); ++i) unit_of_[positions[i]] = before[i];
      return false;
    }
    for (const size_t position : positions) members_[position].clear();
    members_[unit] = positions;
    return true;
  }

  // Returns the units in an order in which users come before their inputs. Ties: the unit that is
  // latest in the graph.
  std::vector<size_t> users_first() const {
    std::vector<size_t> missing(size());
    std::priority_queue<std::pair<size_t, size_t>> ready;
    for (size_t unit = 0; unit < size(); ++unit) {
      if (members_[unit].empty()) continue;
      for_each_user(unit, [&](size_t) { ++missing[unit]; });
      if (missing[unit] == 0) ready.emplace(members_[unit].back(), unit);
    }
    std::vector<size_t> order;
    while (!ready.empty()) {
      const size_t unit = ready.top().second;
      ready.pop();
      order.push_back(unit);
      // `missing` counts edges to users outside `order`. Each count reaches 0, because
      // for_each_user() and for_each_input() visit the same edges.
      for_each_input(unit, [&](size_t input) {
        if (--missing[input] == 0) ready.emplace(members_[input].back(), input);
      });
    }
    return order;
  }

 private:
  bool is_in_cycle(size_t unit, const std::vector<size_t>& positions) const {
    std::vector<bool> seen(size());
    std::vector<size_t> open;
    const auto visit_users = [&](const std::vector<size_t>& from, bool from_unit) {
      for (const size_t member : from) {
        for (const Node* user : nodes_[member]->users()) {
          const size_t other = unit_of(user);
          if (other == unit && !from_unit) return true;
          if (other == unit || seen[other]) continue;
          seen[other] = true;
          open.push_back(other);
        }
      }
      return false;
    };
    visit_users(positions, true);
    while (!open.empty()) {
      const size_t next = open.back();
      open.pop_back();
      if (visit_users(members_[next], false)) return true;
    }
    return false;
  }

  std::vector<Node*> nodes_;
  std::unordered_map<const Node*, size_t> position_;
  std::vector<size_t> unit_of_;
  std::vector<std::vector<size_t>> members_;
};

// Merges groups that share nodes. Returns the positions of the nodes of each group.
std::vector<std::vector<size_t>> disjoint_groups(const Units& units,
                                                 const std::vector<std::vector<Node*>>& groups) {
  std::vector<size_t> parent(units.size());
  std::iota(parent.begin(), parent.end(), size_t{0});
  const auto root = [&](size_t at) {
    while (parent[at] != at) at = parent[at] = parent[parent[at]];
    return at;
  };
  std::vector<bool> is_grouped(units.size());
  for (const std::vector<Node*>& group : groups) {
    size_t first = kNone;
    for (const Node* node : group) {
      if (!units.has(node)) continue;
      const size_t at = units.position(node);
      is_grouped[at] = true;
      if (first == kNone) first = at;
      parent[root(at)] = root(first);
    }
  }
  std::map<size_t, std::vector<size_t>> by_root;
  for (size_t at = 0; at < units.size(); ++at) {
    if (is_grouped[at]) by_root[root(at)].push_back(at);
  }
  std::vector<std::vector<size_t>> found;
  found.reserve(by_root.size());
  for (auto& [at, members] : by_root) found.push_back(std::move(members));
  return found;
}

class PartitionFormer {
 public:
  PartitionFormer(const Units& units, const std::vector<bool>& supported)
      : units_(units),
        supported_(supported),
        order_(units.users_first()),
        partition_of_(units.size(), kNone) {}

  // Returns the partition of each unit, or kNone for a unit without a partition.
  std::vector<size_t> run() {
    size_t id = 0;
    for (size_t i = 0; i < order_.size(); ++i) {
      if (supported_[order_[i]] && partition_of_[order_[i]] == kNone) fill(id++, i);
    }
    return partition_of_;
  }

 private:
  // Fills partition `id` with units from order_[start] on. Skips units that would create a path out
  // of the partition and back in.
  void fill(size_t id, size_t start) {
    std::vector<bool> leads_in(units_.size());   // a path leads from the unit into the partition
    std::vector<bool> is_barred(units_.size());  // ... through a unit outside the partition
    for (size_t i = start; i < order_.size(); ++i) {
      const size_t unit = order_[i];
      units_.for_each_user(unit, [&](size_t user) {
        const bool is_inside = partition_of_[user] == id;
        leads_in[unit] = leads_in[unit] || is_inside || leads_in[user];
        is_barred[unit] = is_barred[unit] || (!is_inside && leads_in[user]);
      });
      if (supported_[unit] && partition_of_[unit] == kNone && !is_barred[unit]) {
        partition_of_[unit] = id;
      }
    }
  }

  const Units& units_;
  const std::vector<bool>& supported_;
  std::vector<size_t> order_;
  std::vector<size_t> partition_of_;
};

// If all users of a call are getitems, moves these getitems into the call's partition. Repeats this
// until nothing changes, because a getitem may return a tuple.
void move_getitems(const Units& units, std::vector<size_t>& partition_of) {
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t at = 0; at < units.size(); ++at) {
      const std::vector<Node*>& users = units.node(at)->users();
      if (!std::ranges::all_of(users, [](const Node* user) { return user->calls(getitem()); })) {
        continue;
      }
      for (const Node* user : users) {
        size_t& partition = partition_of[units.position(user)];
        if (partition == partition_of[at]) continue;
        partition = partition_of[at];
        changed = true;
      }
    }
  }
}

size_t count_computing_calls(const std::vector<Node*>& nodes) {
  return static_cast<size_t>(std::ranges::count_if(nodes, [](const Node* node) {
    return node->is_call() && !node->calls(getitem()) && !node->target().is("aten.view.default");
  }));
}

}  // namespace

std::vector<NodePartition> partition_nodes(Graph& graph,
                                           const std::unordered_set<const Node*>& supported,
                                           const PartitionNodesOptions& options) {
  Units units(graph);
  std::vector<bool> is_supported(units.size());
  for (size_t at = 0; at < units.size(); ++at) {
    is_supported[at] = supported.contains(units.node(at));
  }
  for (const std::vector<size_t>& group : disjoint_groups(units, options.groups)) {
    const bool is_joined = units.join(group);
    for (const size_t at : group) is_supported[at] = is_joined;
  }
  const std::vector<size_t> of_units = PartitionFormer(units, is_supported).run();
  std::vector<size_t> partition_of(units.size());
  for (size_t at = 0; at < units.size(); ++at) {
    partition_of[at] = of_units[units.unit_of(units.node(at))];
  }
  move_getitems(units, partition_of);

  std::map<size_t, NodePartition> by_id;
  for (size_t at = 0; at < units.size(); ++at) {
    if (partition_of[at] == kNone) continue;
    NodePartition& partition = by_id[partition_of[at]];
    partition.id = partition_of[at];
    partition.nodes.push_back(units.node(at));
  }
  std::vector<NodePartition> found;
  for (auto& [id, partition] : by_id) {
    if (options.single_nodes || count_computing_calls(partition.nodes) > 1) {
      found.push_back(std::move(partition));
    }
  }
  return found;
}

}  // namespace vitrine::aot
