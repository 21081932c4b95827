#include "test/support/record_builder.h"

#include <zip.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/zip_archive.h"
#include "test/support/read_json.h"

namespace vitrine::test {

std::vector<std::byte> make_archive(const Members& members, bool compressed) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* target = zip_source_buffer_create(nullptr, 0, 0, &error);
  zip_t* archive = zip_open_from_source(target, ZIP_TRUNCATE, &error);
  if (archive == nullptr) throw std::runtime_error(zip_error_strerror(&error));
  zip_source_keep(target);
  for (const auto& [name, content] : members) {
    zip_source_t* source = zip_source_buffer(archive, content.data(), content.size(), 0);
    const zip_int64_t index = zip_file_add(archive, name.c_str(), source, 0);
    if (index < 0) throw std::runtime_error(zip_strerror(archive));
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(index),
                             compressed ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
  }
  if (zip_close(archive) != 0) throw std::runtime_error(zip_strerror(archive));
  zip_stat_t stat;
  zip_source_stat(target, &stat);
  std::vector<std::byte> bytes(stat.size);
  zip_source_open(target);
  zip_source_read(target, bytes.data(), bytes.size());
  zip_source_close(target);
  zip_source_free(target);
  return bytes;
}

std::vector<std::byte> record_of_portable(const std::filesystem::path& delegated,
                                          const std::filesystem::path& portable) {
  constexpr char kGraph[] = "edge_dialect_exported_program/forward";
  const ZipArchive archive = ZipArchive::open(delegated / "etrecord.bin");
  return make_archive({{"ETRECORD_V0", ""},
                       {kGraph, archive.read_checked(kGraph, uint64_t{64} << 20)},
                       {"debug_handle_map", read_json(portable / "debug_handle_map.json").dump()}});
}

std::string edge_program_json(const std::vector<NodeText>& nodes) {
  nlohmann::json list = nlohmann::json::array();
  nlohmann::json values = nlohmann::json::object();
  for (const NodeText& node : nodes) {
    if (!node.sizes.empty()) {
      nlohmann::json sizes = nlohmann::json::array();
      for (const int size : node.sizes) sizes.push_back({{"as_int", size}});
      values[node.name] = {{"dtype", 7}, {"sizes", sizes}};
    }
    nlohmann::json inputs = nlohmann::json::array();
    for (const std::string& input : node.inputs) {
      inputs.push_back({{"name", "x"}, {"arg", {{"as_tensor", {{"name", input}}}}}});
    }
    nlohmann::json metadata = {{"debug_handle", std::to_string(node.debug_handle)},
                               {"nn_module_stack", "L__self__,,Net;k," + node.module_path + ",M"}};
    list.push_back({{"name", node.name},
                    {"target", "executorch.exir.dialects.edge.ops." + node.target},
                    {"inputs", inputs},
                    {"outputs", nlohmann::json::array({{{"as_tensor", {{"name", node.name}}}}})},
                    {"metadata", metadata}});
  }
  nlohmann::json outputs = nlohmann::json::array();
  if (!nodes.empty()) outputs.push_back({{"as_tensor", {{"name", nodes.back().name}}}});
  const nlohmann::json graph = {{"nodes", list}, {"tensor_values", values}, {"outputs", outputs}};
  return nlohmann::json({{"graph_module", {{"graph", graph}}}}).dump();
}

etrecord::EtRecord record_of(const std::vector<NodeText>& nodes, const std::string& handles,
                             const std::string& delegates) {
  return etrecord::parse_etrecord(
      make_archive({{"ETRECORD_V0", ""},
                    {"edge_dialect_exported_program/forward", edge_program_json(nodes)},
                    {"debug_handle_map", "{\"forward\": " + handles + "}"},
                    {"delegate_map", "{\"forward\": " + delegates + "}"}}));
}

}  // namespace vitrine::test
