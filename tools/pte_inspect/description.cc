#include "tools/pte_inspect/description.h"

#include <algorithm>

#include "base/zip_archive.h"
#include "formats/bundled_program/bundled_program.h"
#include "formats/etdump/etdump_reader.h"
#include "formats/etrecord/etrecord.h"
#include "schema/flat_tensor_generated.h"
#include "tools/common/tensors.h"
#include "tools/common/tool_error.h"
#include "tools/pte_inspect/loading.h"

namespace vitrine::tools {
namespace {

struct Describer {
  FileKind kind;
  void (*describe)(const OpenedFile& file, Json& json);
};
constexpr Describer kDescribers[] = {
    {FileKind::kProgram, describe_program},
    {FileKind::kBundledProgram, describe_bundle},
    {FileKind::kNamedData, describe_named_data},
    {FileKind::kTrace, describe_trace},
    {FileKind::kXnnpackPayload, describe_payload},
    {FileKind::kForeignPayload, describe_foreign_payload},
    {FileKind::kRecord, describe_record},
    {FileKind::kExportedModel, describe_exported_model},
    {FileKind::kNativeModel, describe_native_model},
};

}  // namespace

Json describe_file(const OpenedFile& file) {
  const FileKind kind = kind_of_file(file.bytes, file.name);
  Json json = {{"schema_version", kDescriptionVersion},
               {"file", file.name},
               {"kind", kind_name(kind)},
               {"bytes", file.bytes.size()}};
  std::ranges::find(kDescribers, kind, &Describer::kind)->describe(file, json);
  return json;
}

void describe_bundle(const OpenedFile& file, Json& json) {
  const bundled::BundledProgram bundle = bundled::parse_bundled_program(file.bytes, file.name);
  json["version"] = bundle.version;
  json["test_suites"] = Json::array();
  for (const bundled::TestSuite& suite : bundle.suites) {
    json["test_suites"].push_back({{"method", suite.method}, {"test_cases", suite.sets.size()}});
  }
  const AlignedBytes program(bundle.program);
  json["program"] = {{"bytes", program.bytes().size()}};
  describe_program({file.name + ": program", program.bytes(), file.data, file.prepares_delegates},
                   json["program"]);
}

void describe_named_data(const OpenedFile& file, Json& json) {
  const auto data = load_named_data(file);
  // load_named_data() has verified the flatbuffer.
  const auto* root = schema::flat_tensor::GetFlatTensor(file.bytes.data());
  json["version"] = root->version();
  json["segments"] = root->segments()->size();
  json["named_data"] = Json::array();
  for (size_t i = 0; i < data->size(); ++i) {
    const std::string_view key = data->key(i);
    const auto layout = check(data->layout(key));
    Json entry = {{"key", key},
                  {"bytes", check(data->get(key)).size()},
                  {"segment", root->named_data()->Get(static_cast<uint32_t>(i))->segment_index()}};
    entry["tensor"] = layout ? Json(describe(layout->dtype, layout->sizes)) : Json();
    json["named_data"].push_back(std::move(entry));
  }
}

void describe_trace(const OpenedFile& file, Json& json) {
  const etdump::EtDump dump = etdump::parse_etdump(file.bytes, file.name);
  size_t profile = 0, debug = 0, allocations = 0;
  std::map<std::string, Json> blocks;  // keyed by name
  for (const etdump::Block& block : dump.blocks) {
    profile += block.profile_events.size();
    debug += block.debug_events.size();
    allocations += block.allocation_events.size();
    Json& sum = blocks
                    .try_emplace(std::string(block.name),
                                 Json{{"name", block.name}, {"blocks", 0}, {"events", 0}})
                    .first->second;
    sum["blocks"] = sum["blocks"].get<size_t>() + 1;
    sum["events"] = sum["events"].get<size_t>() + block.profile_events.size() +
                    block.debug_events.size() + block.allocation_events.size();
  }
  json["profile_events"] = profile;
  json["debug_events"] = debug;
  json["allocation_events"] = allocations;
  json["blocks"] = Json::array();
  for (auto& [name, sum] : blocks) json["blocks"].push_back(std::move(sum));
}

void describe_record(const OpenedFile& file, Json& json) {
  const etrecord::EtRecord record = etrecord::parse_etrecord(file.bytes, file.name);
  json["methods"] = Json::array();
  for (const auto& [name, method] : record.methods) {
    Json delegates = Json::array();
    for (const auto& [instruction, entry] : method.delegates) {
      delegates.push_back({{"instruction", instruction},
                           {"backend", entry.backend},
                           {"identifiers", entry.handles_of_id.size()}});
    }
    json["methods"].push_back({{"name", name},
                               {"edge_nodes", method.graph.nodes.size()},
                               {"debug_handles", method.graph.nodes_of_handle.size()},
                               {"instructions", method.handles_of_instruction.size()},
                               {"delegates", std::move(delegates)}});
  }
  const ZipArchive archive({file.bytes, nullptr}, file.name);
  json["members"] = members_json(archive);
}

}  // namespace vitrine::tools
