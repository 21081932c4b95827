#include "inspector/report/report_graph.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "inspector/join/profile.h"
#include "inspector/report/fill_page.h"
#include "inspector/report/html/page_text.h"

namespace vitrine::inspector {
namespace {

using Json = nlohmann::ordered_json;

// Limits on graphs that pages draw. A browser needs about a second to lay out 10,000 nodes.
constexpr size_t kMaxNodes = 100'000;
constexpr size_t kMaxEdges = 500'000;

constexpr std::array<std::string_view, 7> kKinds = {"op",       "input",  "output", "method",
                                                    "delegate", "module", "part"};

// Returns a figure as JSON: a number or, because JSON cannot represent infinity and NaN, a text.
Json figure_json(double value) {
  if (std::isfinite(value)) return value;
  return value > 0 ? "same" : "not finite";
}

Json figures_json(const RowFigures& figures) {
  if (figures.title.empty()) return nullptr;
  Json values = Json::array();
  for (const double value : figures.values) values.push_back(figure_json(value));
  return {{"title", figures.title},
          {"about", figures.about},
          {"is_change", figures.is_change},
          {"values", values}};
}

// Returns the values of the node's rows, as indices into RowFigures::values.
std::vector<size_t> figures_of(const GraphPicture::Node& node, const RowFigures& figures) {
  std::vector<size_t> indices;
  for (const RowOfQueue& row : node.rows) {
    const auto found = figures.values_of_row.find(row.row);
    if (!row.queue.empty() || found == figures.values_of_row.end()) continue;
    indices.insert(indices.end(), found->second.begin(), found->second.end());
  }
  return indices;
}

Json picture_json(const GraphPicture& picture) {
  Json types = Json::array();
  std::map<std::string_view, size_t> numbers;
  const auto number_of = [&](const std::string& type) {
    const auto [at, is_new] = numbers.try_emplace(type, types.size());
    if (is_new) types.push_back({type, bytes_of_type(type)});
    return at->second;
  };
  Json nodes = Json::array(), edges = Json::array();
  for (const GraphPicture::Node& node : picture.nodes) {
    Json json = {{"kind", kKinds[static_cast<size_t>(node.kind)]}, {"label", node.label}};
    if (node.parent != GraphPicture::kNoParent) json["parent"] = node.parent;
    if (!node.note.empty()) json["note"] = node.note;
    if (!node.module_path.empty()) json["module"] = node.module_path;
    if (!node.backend.empty()) json["backend"] = node.backend;
    if (!node.type.empty()) json["type"] = number_of(node.type);
    if (node.constant_bytes != 0) json["constant_bytes"] = node.constant_bytes;
    if (picture.has_times && node.time_ns > 0) json["time_ns"] = node.time_ns;
    if (!node.change.empty()) json["change"] = node.change;
    if (node.partner) json["partner"] = *node.partner;
    if (node.device_time > 0) json["device_time"] = node.device_time;
    if (!node.rows.empty()) {
      json["rows"] = Json::array();
      for (const RowOfQueue& row : node.rows) json["rows"].push_back({row.queue, row.row});
    }
    if (std::vector<size_t> indices = figures_of(node, picture.figures); !indices.empty()) {
      json["figures"] = std::move(indices);
    }
    if (!node.facts.empty()) {
      json["facts"] = Json::array();
      for (const auto& [name, text] : node.facts) json["facts"].push_back({name, text});
    }
    nodes.push_back(std::move(json));
  }
  for (const GraphPicture::Edge& edge : picture.edges) {
    edges.push_back({edge.from, edge.to, number_of(edge.type)});
  }
  return {{"title", picture.title},
          {"facts", picture.facts},
          {"notes", picture.notes},
          {"has_times", picture.has_times},
          {"queue", picture.device_queue},
          {"queue_unit", picture.has_device_ticks ? "ticks" : "ns"},
          {"figures", figures_json(picture.figures)},
          {"types", types},
          {"nodes", nodes},
          {"edges", edges}};
}

}  // namespace

bool has_graph_layout() { return !html::kGraphLayout.empty(); }

std::string report_graph_html(const GraphPicture& picture) {
  if (!has_graph_layout()) {
    throw InspectorError(
        "this build cannot draw graphs, because dagre was not available when it was configured; "
        "configure it again on a machine with Debian's package mirror or npm "
        "(docs/dependencies.md), or use --graph=dot");
  }
  if (picture.nodes.size() > kMaxNodes || picture.edges.size() > kMaxEdges) {
    throw InspectorError(fmt::format(
        "the graph has {} nodes and {} edges; the page draws at most {} and {}; use --graph=dot",
        picture.nodes.size(), picture.edges.size(), kMaxNodes, kMaxEdges));
  }
  const std::string json =
      without_tags(picture_json(picture).dump(-1, ' ', false, Json::error_handler_t::replace));
  const std::string style = std::string(html::kStyle).append(html::kGraphStyle);
  return fill_page(html::kGraphPage, {{"{{style}}", style},
                                      {"{{data}}", json},
                                      {"{{layout}}", html::kGraphLayout},
                                      {"{{elements}}", html::kElements},
                                      {"{{script}}", html::kGraphScript}});
}

std::string graph_tab_data_without_graph(std::string_view why_not) {
  const Json json = {{"why_not", why_not}};
  return without_tags(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string graph_tab_data(const GraphPicture& picture) {
  Json rows = Json::array();
  for (size_t node = 0; node < picture.nodes.size(); ++node) {
    for (const RowOfQueue& row : picture.nodes[node].rows) {
      rows.push_back({row.queue, row.row, node});
    }
  }
  try {
    const Json json = {{"page", report_graph_html(picture)}, {"rows", rows}};
    return without_tags(json.dump(-1, ' ', false, Json::error_handler_t::replace));
  } catch (const InspectorError& error) {
    return graph_tab_data_without_graph(error.what());
  }
}

std::string report_graph_pair_html(const GraphPicture& a, const GraphPicture& b,
                                   const std::vector<std::string>& summary) {
  const Json json = {{"title", a.title + " and " + b.title},
                     {"summary", summary},
                     {"pages", {report_graph_html(a), report_graph_html(b)}}};
  const std::string data = without_tags(json.dump(-1, ' ', false, Json::error_handler_t::replace));
  const std::string style = std::string(html::kStyle).append(html::kGraphPairStyle);
  return fill_page(html::kGraphPairPage, {{"{{style}}", style},
                                          {"{{data}}", data},
                                          {"{{elements}}", html::kElements},
                                          {"{{script}}", html::kGraphPairScript}});
}

}  // namespace vitrine::inspector
