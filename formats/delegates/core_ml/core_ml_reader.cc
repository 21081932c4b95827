// Reads payloads of the Core ML backend: a container of files, or the key of a container in named
// data.
#include <algorithm>
#include <map>

#include "base/json.h"
#include "formats/delegates/core_ml/container.h"
#include "formats/delegates/core_ml/mil.h"
#include "formats/delegates/payload_text.h"

namespace vitrine::delegates {
namespace core_ml {
namespace {

constexpr std::string_view kBackends[] = {"CoreMLBackend"};
constexpr std::string_view kReference = "CMJR";
constexpr std::string_view kCompiledProgram = "program(";

struct FileContent {
  std::string_view name;
  std::string_view content;
};
constexpr FileContent kContents[] = {
    {"model.mlmodel", "model: functions, operations, small constants"},
    {"model.mil", "compiled model as text"},
    {"weight.bin", "weights"},
    {"debug_info.json", "debug: operations and their debug handles"},
    {"executorch_debug_handle_mapping.json", "debug: operations and their debug handles"},
    {"coremldata.bin", "closed format; not needed to read the model"},
    {"metadata.json", "names of inputs and outputs"},
    {"Manifest.json", "list of the model's files"}};

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

void add_parts(const std::vector<core_ml::PackedFile>& files, size_t payload_bytes,
               PayloadDescription& result) {
  uint64_t debug = 0;
  size_t debug_files = 0;
  for (const core_ml::PackedFile& file : files) {
    const auto* known = std::ranges::find(kContents, base_name(file.path), &FileContent::name);
    const bool is_known = known != std::end(kContents);
    result.parts.push_back(
        {file.path, file.data.size(), is_known ? std::string(known->content) : ""});
    if (!is_known || !known->content.starts_with("debug")) continue;
    debug += file.data.size();
    ++debug_files;
  }
  if (debug_files != 0) {
    result.facts.push_back(fmt::format("{} of {} bytes are debug data in {} file{}", debug,
                                       payload_bytes, debug_files, debug_files == 1 ? "" : "s"));
  }
}

std::string names_in(JsonValue names) {
  std::vector<std::string> list;
  names.each_item([&](JsonValue name) { list.push_back(name.string()); });
  return list_text(list, [](const std::string& name) { return name; });
}

// Adds the names of inputs and outputs, in call order. The names are in the arrays "inputNames" and
// "outputNames" of the root object, or of each object in "methods".
void add_names(const core_ml::PackedFile& file, PayloadDescription& result) {
  const JsonDocument document(text_of(file.data), "Core ML " + file.path, 32);
  const JsonValue root = document.root();
  const auto add = [&](const std::string& method, JsonValue names) {
    if (!names.holds("inputNames") || !names.holds("outputNames")) return;
    result.facts.push_back(fmt::format("{}inputs {}, outputs {}", method,
                                       names_in(names.at("inputNames")),
                                       names_in(names.at("outputNames"))));
  };
  add("", root);
  if (root.holds("methods")) {
    root.at("methods").each_member(
        [&](const std::string& name, JsonValue method) { add("method " + name + ": ", method); });
  }
}

// Maps operations to debug handles. A key such as "y:mul" consists of the name of the operation's
// first result and the operation's type.
using HandlesOfSymbol = std::map<std::string, std::vector<uint32_t>>;

HandlesOfSymbol read_debug_info(const core_ml::PackedFile& file, PayloadDescription& result) {
  const JsonDocument document(text_of(file.data), "Core ML " + file.path, 32);
  const JsonValue root = document.root();
  HandlesOfSymbol handles;
  if (!root.holds("debugSymbolToHandles")) return handles;
  root.at("debugSymbolToHandles").each_member([&](const std::string& symbol, JsonValue list) {
    std::vector<uint32_t>& of_symbol = handles[symbol];
    list.each_item([&](JsonValue handle) { of_symbol.push_back(handle.integer<uint32_t>()); });
  });
  result.facts.push_back(fmt::format("debug handles of {} operations", handles.size()));
  return handles;
}

// Ignores the prefix of an operation's type, such as "ios17." in "ios17.conv".
void add_debug_handles(const HandlesOfSymbol& handles, PayloadDescription& result) {
  for (PayloadGraph& graph : result.graphs) {
    for (PayloadOperator& op : graph.operators) {
      if (op.outputs.empty()) continue;
      const std::string& output = result.tensors[op.outputs.front()].name;
      const auto found = handles.find(output + ":" + op.name.substr(op.name.find('.') + 1));
      if (found != handles.end()) op.debug_handles = found->second;
    }
  }
}

void read_program(const std::vector<core_ml::PackedFile>& files, PayloadDescription& result) {
  const auto model = std::ranges::find_if(
      files, [](const core_ml::PackedFile& file) { return file.path.ends_with(".mlmodel"); });
  if (model != files.end()) return core_ml::read_model(model->data, files, result);
  if (const core_ml::PackedFile* text = core_ml::find_file(files, "model.mil")) {
    return core_ml::read_mil_text(text_of(text->data), result);
  }
  result.closed = "the container has neither a .mlmodel nor a model.mil: only its files are known";
}

void read_files(Bytes container, PayloadDescription& result) {
  const std::vector<core_ml::PackedFile> files = core_ml::read_container(container);
  add_parts(files, container.size(), result);
  HandlesOfSymbol handles;
  for (const core_ml::PackedFile& file : files) {
    if (file.path == "metadata.json") add_names(file, result);
    if (file.path == "debug_info.json") handles = read_debug_info(file, result);
  }
  read_program(files, result);
  add_debug_handles(handles, result);
}

// Reads a container in named data. The payload is JSON with the container's key and the name of a
// function.
void read_reference(const PayloadInput& input, PayloadDescription& result) {
  const JsonDocument document(text_of(input.bytes.subspan(kReference.size())), "Core ML reference",
                              32);
  const std::string& key = document.root().at("key").string();
  result.facts.push_back(fmt::format("function {} of named data {}",
                                     document.root().at("functionName").string(), key));
  if (input.data != nullptr) {
    const auto found = input.data->get(key);
    if (found.ok()) return read_files(found->bytes(), result);
  }
  result.notes.push_back(fmt::format("named data {} is missing, so the model is unknown", key));
}

PayloadDescription read_core_ml(const PayloadInput& input) {
  PayloadDescription result;
  result.kind = "Core ML model";
  result.options = options_text(input);
  if (has_text_at(input.bytes, 0, kReference)) {
    read_reference(input, result);
  } else if (input.backend.empty() && has_text_at(input.bytes, 0, kCompiledProgram) &&
             !core_ml::may_be_container(input.bytes)) {
    core_ml::read_mil_text(text_of(input.bytes), result);
  } else {
    read_files(input.bytes, result);
  }
  if (result.closed.empty()) {
    result.facts.emplace_back("the device chooses the processor of each operation at run time");
  }
  return result;
}

}  // namespace
}  // namespace core_ml

const DelegateReader kCoreMlReader = {core_ml::kBackends, "Core ML model",
                                      [](std::span<const std::byte> bytes) {
                                        return has_text_at(bytes, 0, core_ml::kReference) ||
                                               has_text_at(bytes, 0, core_ml::kCompiledProgram) ||
                                               core_ml::may_be_container(bytes);
                                      },
                                      core_ml::read_core_ml};

}  // namespace vitrine::delegates
