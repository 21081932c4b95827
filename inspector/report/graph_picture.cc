#include "inspector/report/graph_picture.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>
#include <map>
#include <queue>
#include <string_view>
#include <unordered_map>

namespace vitrine::inspector {
namespace {

constexpr size_t kMaxBoxDepth = 32;  // maximum depth of module paths; deeper modules share a box

std::vector<std::string> components(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const size_t dot = parts.size() + 1 == kMaxBoxDepth ? path.size() : path.find('.');
    parts.emplace_back(path.substr(0, dot));
    path.remove_prefix(dot == std::string_view::npos ? path.size()
                                                     : std::min(dot + 1, path.size()));
  }
  return parts;
}

// A graph whose nodes are the numbers 0 to count - 1. After finish(), edges are unique.
struct Links {
  explicit Links(size_t count) : next(count) {}
  std::vector<std::vector<size_t>> next;

  void finish() {
    for (std::vector<size_t>& list : next) {
      std::ranges::sort(list);
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
  }
};

// Returns the number of each node's strongly connected component (Tarjan's algorithm, without
// recursion).
std::vector<size_t> find_components(const Links& links) {
  const size_t count = links.next.size();
  std::vector<size_t> order(count, SIZE_MAX), low(count), component(count, SIZE_MAX), open;
  std::vector<std::pair<size_t, size_t>> calls;
  size_t next_order = 0, num_components = 0;
  for (size_t start = 0; start < count; ++start) {
    if (order[start] != SIZE_MAX) continue;
    calls.emplace_back(start, 0);
    while (!calls.empty()) {
      const size_t at = calls.back().first;
      if (calls.back().second == 0) {
        order[at] = low[at] = next_order++;
        open.push_back(at);
      }
      bool is_done = true;
      while (calls.back().second < links.next[at].size()) {
        const size_t to = links.next[at][calls.back().second++];
        if (order[to] == SIZE_MAX) {
          calls.emplace_back(to, 0);
          is_done = false;
          break;
        }
        if (component[to] == SIZE_MAX) low[at] = std::min(low[at], order[to]);
      }
      if (!is_done) continue;
      if (links.next[at].empty() || calls.back().second == links.next[at].size()) {
        calls.pop_back();
        if (!calls.empty()) {
          low[calls.back().first] = std::min(low[calls.back().first], low[at]);
        }
        if (low[at] != order[at]) continue;
        while (true) {
          const size_t member = open.back();
          open.pop_back();
          component[member] = num_components;
          if (member == at) break;
        }
        ++num_components;
      }
    }
  }
  return component;
}

// Adds boxes to the content of a method, of a delegate or of the whole picture.
class BoxMaker {
 public:
  using Pair = std::pair<size_t, size_t>;

  explicit BoxMaker(GraphPicture& picture)
      : picture_(picture), classes_(picture.module_classes.begin(), picture.module_classes.end()) {}

  void add_boxes(const std::vector<size_t>& members, const std::vector<Pair>& edges,
                 size_t parent) {
    paths_.clear();
    for (const size_t member : members) {
      paths_.emplace(member, components(picture_.nodes[member].module_path));
    }
    split(members, edges, 0, parent, "", /*is_module=*/false);
  }

 private:
  // A module, or a single node.
  struct Group {
    std::string name;  // component of the path; empty for a single node
    std::vector<size_t> members;
  };

  // Groups nodes whose module paths have the same component at `depth`. Splits groups if edges
  // between them form a cycle.
  std::vector<Group> make_groups(const std::vector<size_t>& members, const std::vector<Pair>& edges,
                                 size_t depth, Links& links) {
    std::vector<size_t> key(members.size());
    std::vector<std::string> names;
    const auto name_of = [&](size_t i) -> const std::string* {
      const std::vector<std::string>& path = paths_.at(members[i]);
      return path.size() > depth ? &path[depth] : nullptr;
    };
    std::map<std::string_view, size_t> key_of_name;
    for (size_t i = 0; i < members.size(); ++i) {
      key[i] = names.size();
      const std::string* name = name_of(i);
      if (name != nullptr) key[i] = key_of_name.try_emplace(*name, names.size()).first->second;
      if (key[i] == names.size()) names.push_back(name == nullptr ? "" : *name);
    }
    links = links_of(members, edges, key, names.size());
    const std::vector<size_t> component = find_components(links);
    std::vector<size_t> size(names.size());
    for (const size_t c : component) ++size[c];
    if (std::ranges::any_of(size, [](size_t count) { return count > 1; })) {
      // Splits groups that are part of a cycle into series of consecutive nodes.
      std::vector<std::string> new_names;
      std::map<size_t, size_t> new_key;
      size_t previous = SIZE_MAX;
      for (size_t i = 0; i < members.size(); ++i) {
        const size_t old = key[i];
        const bool is_cyclic = size[component[old]] > 1;
        if (is_cyclic && old != previous) new_key.erase(old);
        key[i] = new_key.try_emplace(old, new_names.size()).first->second;
        if (key[i] == new_names.size()) new_names.push_back(names[old]);
        previous = old;
      }
      names = std::move(new_names);
      links = links_of(members, edges, key, names.size());
    }
    std::vector<Group> groups(names.size());
    for (size_t i = 0; i < names.size(); ++i) groups[i].name = names[i];
    for (size_t i = 0; i < members.size(); ++i) groups[key[i]].members.push_back(members[i]);
    return groups;
  }

  static Links links_of(const std::vector<size_t>& members, const std::vector<Pair>& edges,
                        const std::vector<size_t>& key, size_t count) {
    std::unordered_map<size_t, size_t> key_of;
    for (size_t i = 0; i < members.size(); ++i) key_of.emplace(members[i], key[i]);
    Links links(count);
    for (const auto& [from, to] : edges) {
      const size_t a = key_of.at(from), b = key_of.at(to);
      if (a != b) links.next[a].push_back(b);
    }
    links.finish();
    return links;
  }

  // Returns the groups in topological order. In a tie, the group whose first node has the lowest
  // index wins.
  static std::vector<size_t> sorted(const std::vector<Group>& groups, const Links& links) {
    std::vector<size_t> missing(groups.size()), order;
    for (const std::vector<size_t>& list : links.next) {
      for (const size_t to : list) ++missing[to];
    }
    using First = std::pair<size_t, size_t>;
    std::priority_queue<First, std::vector<First>, std::greater<>> ready;
    for (size_t i = 0; i < groups.size(); ++i) {
      if (missing[i] == 0) ready.emplace(groups[i].members.front(), i);
    }
    while (!ready.empty()) {
      const size_t next = ready.top().second;
      ready.pop();
      order.push_back(next);
      for (const size_t to : links.next[next]) {
        if (--missing[to] == 0) ready.emplace(groups[to].members.front(), to);
      }
    }
    for (size_t i = 0; i < groups.size(); ++i) {  // in a cyclic graph of a damaged file
      if (missing[i] != 0) order.push_back(i);
    }
    return order;
  }

  size_t add_box(GraphPicture::Kind kind, std::string label, const std::string& path,
                 size_t parent) {
    GraphPicture::Node& box = picture_.nodes.emplace_back();
    box.kind = kind;
    box.label = std::move(label);
    box.parent = parent;
    if (kind == GraphPicture::Kind::kModule) {
      box.module_path = path;
      const auto found = classes_.find(path);
      if (found != classes_.end()) {
        box.facts.emplace_back("class", found->second);
        box.note = found->second.substr(found->second.rfind('.') + 1);
      }
    }
    return picture_.nodes.size() - 1;
  }

  // Adds boxes for the submodules that contain `members`. If `is_module` is true, also adds a box
  // for the module that contains all members. `label` is the text of this box: the module's name,
  // preceded by the names of its parents that have no box.
  void split(const std::vector<size_t>& members, const std::vector<Pair>& edges, size_t depth,
             size_t parent, const std::string& label, bool is_module) {
    Links links(0);
    const std::vector<Group> groups = make_groups(members, edges, depth, links);
    if (groups.size() == 1 && !groups[0].name.empty()) {
      const std::string longer = label.empty() ? groups[0].name : label + "." + groups[0].name;
      return split(members, edges, depth + 1, parent, is_module ? longer : "", is_module);
    }
    if (is_module) {
      const std::vector<std::string>& path = paths_.at(members.front());
      std::string name;
      for (size_t i = 0; i < depth; ++i) name += (i == 0 ? "" : ".") + path[i];
      parent = add_box(GraphPicture::Kind::kModule, label, name, parent);
    }
    const std::vector<size_t> order = sorted(groups, links);
    std::vector<size_t> parents(order.size(), parent);
    add_segments(parents, parent);
    std::map<size_t, std::vector<Pair>> edges_of;
    std::unordered_map<size_t, size_t> group_of;
    for (size_t i = 0; i < groups.size(); ++i) {
      for (const size_t member : groups[i].members) group_of.emplace(member, i);
    }
    for (const Pair& edge : edges) {
      const size_t group = group_of.at(edge.first);
      if (group == group_of.at(edge.second)) edges_of[group].push_back(edge);
    }
    for (size_t i = 0; i < order.size(); ++i) {
      const Group& group = groups[order[i]];
      if (group.members.size() == 1) {
        picture_.nodes[group.members[0]].parent = parents[i];
      } else {
        split(group.members, edges_of[order[i]], depth + 1, parents[i], group.name, true);
      }
    }
  }

  // Puts boxes between `parent` and its children, so that no box has more than kMaxChildren
  // children.
  void add_segments(std::vector<size_t>& parents, size_t parent) {
    if (parents.size() <= kMaxChildren) return;
    size_t width = 1;
    while ((parents.size() + width - 1) / width > kMaxChildren) width *= kMaxChildren / 2;
    for (size_t begin = 0; begin < parents.size(); begin += width) {
      const size_t end = std::min(parents.size(), begin + width);
      const size_t box = add_box(GraphPicture::Kind::kSegment,
                                 "part " + std::to_string(begin / width + 1), "", parent);
      std::vector<size_t> inside(end - begin, box);
      add_segments(inside, box);
      std::ranges::copy(inside, parents.begin() + static_cast<std::ptrdiff_t>(begin));
    }
  }

  GraphPicture& picture_;
  std::map<std::string, std::string> classes_;
  std::unordered_map<size_t, std::vector<std::string>> paths_;
};

}  // namespace

uint64_t bytes_of_type(std::string_view type) {
  const size_t open = type.find('[');
  if (open == std::string_view::npos || !type.ends_with(']')) return 0;
  const std::string_view dtype = type.substr(0, open);
  if (dtype.find(' ') != std::string_view::npos) return 0;  // "dtype 77": an unknown number
  uint64_t bits = dtype == "bool" ? 8 : 0;
  const size_t letters = dtype.find_first_of("0123456789");
  if (letters != std::string_view::npos) {
    const char* end = dtype.data() + dtype.size();
    if (std::from_chars(dtype.data() + letters, end, bits).ptr != end) return 0;
  }
  if (bits > 128) return 0;
  std::string_view sizes = type.substr(open + 1, type.size() - open - 2);
  while (!sizes.empty()) {
    while (sizes.starts_with(' ')) sizes.remove_prefix(1);
    const size_t comma = std::min(sizes.find(','), sizes.size());
    uint64_t size = 0;
    const char* end = sizes.data() + comma;
    if (std::from_chars(sizes.data(), end, size).ptr != end) return 0;
    if (__builtin_mul_overflow(bits, size, &bits)) return 0;
    sizes.remove_prefix(std::min(comma + 1, sizes.size()));
  }
  return bits / 8 + (bits % 8 != 0);
}

void add_module_boxes(GraphPicture& picture) {
  std::vector<GraphPicture::Node>& nodes = picture.nodes;
  const auto parents_of = [&](size_t node) {
    std::vector<size_t> list = {node};
    while (nodes[list.back()].parent != GraphPicture::kNoParent) {
      list.push_back(nodes[list.back()].parent);
    }
    list.push_back(GraphPicture::kNoParent);
    return list;
  };
  std::map<size_t, std::vector<size_t>> members;
  std::map<size_t, std::vector<BoxMaker::Pair>> edges;
  for (size_t i = 0; i < nodes.size(); ++i) members[nodes[i].parent].push_back(i);
  for (const GraphPicture::Edge& edge : picture.edges) {
    std::vector<size_t> from = parents_of(edge.from), to = parents_of(edge.to);
    while (from.size() > 1 && to.size() > 1 && from[from.size() - 2] == to[to.size() - 2]) {
      from.pop_back();
      to.pop_back();
    }
    if (from.size() < 2 || to.size() < 2) continue;  // between a box and its content
    edges[from.back()].emplace_back(from[from.size() - 2], to[to.size() - 2]);
  }
  BoxMaker maker(picture);
  for (auto& [parent, list] : members) maker.add_boxes(list, edges[parent], parent);
}

}  // namespace vitrine::inspector
