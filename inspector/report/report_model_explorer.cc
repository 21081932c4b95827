#include "inspector/report/report_model_explorer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

namespace vitrine::inspector {
namespace {

using Json = nlohmann::ordered_json;
using PictureNode = GraphPicture::Node;

Json attribute(const std::string& key, const std::string& value) {
  return {{"key", key}, {"value", value}};
}

// Returns the labels of the boxes around the node, outermost first, such as "XNNPACK/features/0".
std::string namespace_of(const GraphPicture& picture, const PictureNode& node) {
  std::string path;
  for (size_t at = node.parent; at != GraphPicture::kNoParent; at = picture.nodes[at].parent) {
    std::string label = picture.nodes[at].label;
    std::ranges::replace(label, '/', '_');
    path = path.empty() ? label : label + "/" + path;
  }
  return path;
}

}  // namespace

std::string report_model_explorer(const GraphPicture& picture) {
  std::vector<bool> is_box(picture.nodes.size());
  for (const PictureNode& node : picture.nodes) {
    if (node.parent != GraphPicture::kNoParent) is_box[node.parent] = true;
  }
  Json nodes = Json::array();
  std::vector<size_t> position(picture.nodes.size());
  for (size_t i = 0; i < picture.nodes.size(); ++i) {
    if (is_box[i]) continue;
    const PictureNode& node = picture.nodes[i];
    Json json = {{"id", std::to_string(i)},
                 {"label", node.label},
                 {"namespace", namespace_of(picture, node)},
                 {"attrs", Json::array()},
                 {"incomingEdges", Json::array()},
                 {"outputsMetadata", Json::array()}};
    if (!node.module_path.empty()) json["attrs"].push_back(attribute("module", node.module_path));
    if (!node.backend.empty()) json["attrs"].push_back(attribute("backend", node.backend));
    if (node.constant_bytes != 0) {
      json["attrs"].push_back(attribute("weight bytes", std::to_string(node.constant_bytes)));
    }
    for (const auto& [name, text] : node.facts) json["attrs"].push_back(attribute(name, text));
    if (!node.type.empty()) {
      json["outputsMetadata"].push_back(
          {{"id", "0"}, {"attrs", Json::array({attribute("tensor_shape", node.type)})}});
    }
    position[i] = nodes.size();
    nodes.push_back(std::move(json));
  }
  for (const GraphPicture::Edge& edge : picture.edges) {
    if (is_box[edge.from] || is_box[edge.to]) continue;
    Json& edges = nodes[position[edge.to]]["incomingEdges"];
    edges.push_back({{"sourceNodeId", std::to_string(edge.from)},
                     {"sourceNodeOutputId", "0"},
                     {"targetNodeInputId", std::to_string(edges.size())}});
  }
  const Json graphs = Json::array({{{"id", picture.title}, {"nodes", nodes}}});
  return graphs.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace vitrine::inspector
