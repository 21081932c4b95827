#include "tools/pte_inspect/loading.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <map>
#include <utility>

#include "backends/xnnpack/runtime/reader/graph_reader.h"
#include "backends/xnnpack/runtime/reader/node_table.h"
#include "tools/common/tool_error.h"
#include "vitrine/flat_tensor.h"

namespace vitrine::tools {
namespace {

constexpr size_t kAlignment = 16;

template <class T>
T check_at(const std::string& label, Result<T> result) {
  if (!result.ok()) throw ToolError(result.take_error().in("%s", label.c_str()));
  return std::move(*result);
}

}  // namespace

AlignedBytes::AlignedBytes(std::span<const std::byte> bytes) : bytes_(bytes) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment == 0) return;
  copy_ = check(DataBuffer::allocate(bytes.size()));
  if (!bytes.empty()) std::memcpy(copy_.owned_data(), bytes.data(), bytes.size());
  bytes_ = copy_.bytes();
}

std::shared_ptr<const Program> load_program(const OpenedFile& file) {
  return check_at(file.name, Program::load(check(view_buffer(file.bytes))));
}

std::unique_ptr<NamedDataMap> load_named_data(const OpenedFile& file) {
  return check_at(file.name, load_flat_tensor(check(view_buffer(file.bytes))));
}

XnnpackGraph load_xnnpack_graph(std::span<const std::byte> bytes, const std::string& label,
                                Budget& steps) {
  XnnpackGraph result;
  result.payload = check_at(label, xnnpack::open_payload(bytes, steps));
  result.graph = check_at(label, xnnpack::read_graph(*result.payload.graph, steps));
  return result;
}

XnnpackGraph load_xnnpack_graph(const OpenedFile& payload) {
  Budget steps(default_load_steps(payload.bytes.size()));
  return load_xnnpack_graph(payload.bytes, payload.name, steps);
}

std::string describe_value(const xnnpack::Value& value) {
  return fmt::format("{}[{}]", value.datatype->name, fmt::join(value.shape.used(), ","));
}

Json xnnpack_json(const XnnpackGraph& loaded) {
  const xnnpack::Graph& graph = loaded.graph;
  std::map<std::string, size_t> types, datatypes;
  for (const xnnpack::Node& node : graph.nodes) ++types[node.kind->name];
  size_t constants = 0;
  uint64_t constant_bytes = 0;
  Json inputs = Json::array();
  Json outputs = Json::array();
  for (const xnnpack::Value& value : graph.values) {
    ++datatypes[value.datatype->name];
    if (value.is_input) inputs.push_back(describe_value(value));
    if (value.is_output) outputs.push_back(describe_value(value));
    if (!value.is_constant()) continue;
    ++constants;
    constant_bytes += xnnpack::tensor_bytes(*value.datatype, value.shape).value_or(0);
  }
  Json json = {{"inputs", inputs},
               {"outputs", outputs},
               {"nodes", graph.nodes.size()},
               {"values", graph.values.size()},
               {"node_types", types},
               {"datatypes", datatypes},
               {"constants", constants},
               {"constant_bytes", constant_bytes}};
  if (const auto* version = loaded.payload.graph->version()) json["version"] = version->str();
  return json;
}

Json members_json(const ZipArchive& archive) {
  Json members = Json::array();
  for (const std::string& name : archive.names()) {
    members.push_back({{"name", name}, {"bytes", archive.size_of(name)}});
  }
  return members;
}

void describe_payload(const OpenedFile& file, Json& json) {
  json["xnnpack"] = xnnpack_json(load_xnnpack_graph(file));
}

}  // namespace vitrine::tools
