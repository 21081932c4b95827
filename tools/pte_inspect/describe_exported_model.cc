// Describes the graphs and weights of an exported model (.pt2). Reads the archive of torch 2.8 and
// later, and the flat zip file of earlier versions.
#include <fmt/format.h>

#include <map>
#include <string>
#include <string_view>

#include "aot/import/tensor_meta.h"
#include "base/json.h"
#include "base/zip_archive.h"
#include "tools/pte_inspect/description.h"
#include "tools/pte_inspect/loading.h"

namespace vitrine::tools {
namespace {

constexpr uint64_t kMaxJsonBytes = uint64_t{256} << 20;
constexpr uint64_t kMaxVersionBytes = 4096;
constexpr char kFlatModel[] = "serialized_exported_program.json";

std::string tensor_text(const JsonValue& meta) { return aot::to_text(aot::read_tensor_meta(meta)); }

// Describes inputs or outputs of one kind, such as "user_input", with their shapes.
Json arguments(const JsonValue& specs, const char* kind, const JsonValue& graph) {
  Json list = Json::array();
  specs.each_item([&](const JsonValue& spec) {
    if (!spec.has(kind)) return;
    const JsonValue argument = spec.at(kind).at("arg");
    if (!argument.has("as_tensor")) {
      list.push_back({{"value", "not a tensor"}});
      return;
    }
    const std::string& name = argument.at("as_tensor").at("name").string();
    const JsonValue values = graph.at("tensor_values");
    list.push_back(
        {{"name", name}, {"tensor", values.has(name) ? tensor_text(values.at(name)) : "?"}});
  });
  return list;
}

Json model_json(const std::string& name, const JsonValue& model) {
  const JsonValue graph = model.at("graph_module").at("graph");
  const JsonValue signature = model.at("graph_module").at("signature");
  std::map<std::string, size_t> ops;
  size_t nodes = 0;
  graph.at("nodes").each_item([&](const JsonValue& node) {
    ++nodes;
    std::string target = node.at("target").string();
    constexpr std::string_view kPrefix = "torch.ops.";
    if (target.starts_with(kPrefix)) target.erase(0, kPrefix.size());
    ++ops[target];
  });
  Json json = {
      {"name", name},
      {"schema_version", fmt::format("{}.{}", model.at("schema_version").at("major").integer(),
                                     model.at("schema_version").at("minor").integer())},
      {"nodes", nodes},
      {"inputs", arguments(signature.at("input_specs"), "user_input", graph)},
      {"outputs", arguments(signature.at("output_specs"), "user_output", graph)},
      {"operators", Json::array()}};
  if (model.has("torch_version")) json["torch_version"] = model.at("torch_version").string();
  if (model.has("opset_version")) {
    model.at("opset_version").each_member([&](const std::string& domain, const JsonValue& number) {
      json["opset_version"][domain] = number.integer();
    });
  }
  for (const auto& [op, calls] : ops) {
    json["operators"].push_back({{"name", op}, {"calls", calls}});
  }
  return json;
}

void add_model(const ZipArchive& archive, const std::string& member, const std::string& name,
               Json& json) {
  const std::string label = fmt::format("{}: {}", archive.source(), member);
  const JsonDocument document(archive.read(member, kMaxJsonBytes).text(), label);
  json["models"].push_back(model_json(name, document.root()));
}

// Describes {"config": {name: {path_name, tensor_meta}}}.
void add_payload(const ZipArchive& archive, const std::string& member, Json& list) {
  const std::string label = fmt::format("{}: {}", archive.source(), member);
  const JsonDocument document(archive.read(member, kMaxJsonBytes).text(), label);
  const std::string folder = member.substr(0, member.rfind('/') + 1);
  document.root().at("config").each_member([&](const std::string& name, const JsonValue& entry) {
    const std::string& record = entry.at("path_name").string();
    Json json = {{"key", name}, {"record", record}};
    const bool is_tensor = entry.has("tensor_meta") && !entry.at("tensor_meta").is_null();
    json["tensor"] = is_tensor ? Json(tensor_text(entry.at("tensor_meta"))) : Json();
    json["bytes"] = archive.size_of(folder + record);
    list.push_back(std::move(json));
  });
}

}  // namespace

void describe_exported_model(const OpenedFile& file, Json& json) {
  const ZipArchive archive({file.bytes, nullptr}, file.name);
  json["layout"] = archive.has(kFlatModel) ? "flat (torch 2.7 and earlier)" : "archive";
  json["models"] = Json::array();
  json["weights"] = Json::array();
  json["constants"] = Json::array();
  if (archive.has(kFlatModel)) {
    json["version"] = archive.read("version", kMaxVersionBytes).text();
    add_model(archive, kFlatModel, "model", json);
  } else {
    const std::string& first = archive.names().front();
    const std::string root = first.substr(0, first.find('/') + 1);
    json["version"] = archive.read(root + "archive_version", kMaxVersionBytes).text();
    for (const std::string& member : archive.names()) {
      const std::string_view rest =
          std::string_view(member).substr(member.starts_with(root) ? root.size() : member.size());
      constexpr std::string_view kModels = "models/", kJson = ".json";
      if (rest.starts_with(kModels) && rest.ends_with(kJson)) {
        add_model(
            archive, member,
            std::string(rest.substr(kModels.size(), rest.size() - kModels.size() - kJson.size())),
            json);
      } else if (rest.starts_with("data/weights/") && rest.ends_with("_weights_config.json")) {
        add_payload(archive, member, json["weights"]);
      } else if (rest.starts_with("data/constants/") && rest.ends_with("_constants_config.json")) {
        add_payload(archive, member, json["constants"]);
      }
    }
  }
  json["members"] = members_json(archive);
}

}  // namespace vitrine::tools
