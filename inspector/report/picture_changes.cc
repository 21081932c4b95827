#include "inspector/report/picture_changes.h"

#include <map>
#include <set>
#include <utility>

namespace vitrine::inspector {
namespace {

using Node = GraphPicture::Node;
// A source op with its module, and an index that distinguishes source ops with the same name and
// module.
using Source = std::pair<std::string, size_t>;

struct Sources {
  std::map<size_t, std::vector<Source>> of_node;
  std::map<Source, size_t> node_of;  // first node that runs the source op
  std::set<Source> delegated;        // source ops of all delegates, including ops that were fused
                                     // away
};

Sources sources_of(const GraphPicture& picture) {
  Sources sources;
  std::map<std::string, size_t> count, delegated_count;
  for (size_t i = 0; i < picture.nodes.size(); ++i) {
    const Node& node = picture.nodes[i];
    if (node.kind == GraphPicture::Kind::kDelegate) {
      for (const std::string& text : node.sources) {
        sources.delegated.emplace(text, delegated_count[text]++);
      }
    }
    if (node.kind != GraphPicture::Kind::kOp) continue;
    for (const std::string& text : node.sources) {
      const Source source{text, count[text]++};
      sources.of_node[i].push_back(source);
      sources.node_of.emplace(source, i);
    }
  }
  return sources;
}

bool is_delegated(const Node& node) { return node.backend != "kernels"; }

std::string change_of(const Node& node, const Node* other, bool is_same_fusion) {
  if (other == nullptr) return "absent in the other program";
  if (is_delegated(node) != is_delegated(*other)) {
    return is_delegated(node) ? "delegated only here" : "not delegated here";
  }
  if (node.backend != other->backend) return "different backend";
  return is_same_fusion ? "same" : "fused differently";
}

std::string mark(GraphPicture& picture, const Sources& own, const GraphPicture& other,
                 const Sources& others, const char* name) {
  std::map<std::string, size_t> counts;
  for (const auto& [index, list] : own.of_node) {
    Node& node = picture.nodes[index];
    const Node* partner = nullptr;
    bool is_same_fusion = false;
    for (const Source& source : list) {
      const auto found = others.node_of.find(source);
      if (found == others.node_of.end()) continue;
      node.partner = found->second;
      partner = &other.nodes[found->second];
      is_same_fusion = others.of_node.at(found->second) == list;
      break;
    }
    node.change = change_of(node, partner, is_same_fusion);
    if (partner == nullptr && others.delegated.contains(list.front())) {
      node.change = "fused in the other program's delegate";
    }
    ++counts[node.change];
  }
  std::string text = std::string(name) + ": ";
  for (const auto& [change, count] : counts) {
    text += (text.ends_with(": ") ? "" : ", ") + std::to_string(count) + " " + change;
  }
  return counts.empty() ? text + "no source ops are known" : text;
}

}  // namespace

std::vector<std::string> mark_changes(GraphPicture& a, GraphPicture& b) {
  const Sources of_a = sources_of(a), of_b = sources_of(b);
  std::vector<std::string> summary;
  summary.push_back(mark(a, of_a, b, of_b, "A"));
  summary.push_back(mark(b, of_b, a, of_a, "B"));
  return summary;
}

}  // namespace vitrine::inspector
