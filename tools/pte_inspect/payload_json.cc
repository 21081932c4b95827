#include "tools/pte_inspect/payload_json.h"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <utility>

#include "base/format_error.h"
#include "base/text/text_layout.h"
#include "formats/native/native_package.h"
#include "tools/pte_inspect/loading.h"

namespace vitrine::tools {
namespace {

using delegates::PayloadDescription;
using inspector::printable;

constexpr int kMaxNestedPrograms = 4;

Json arguments_json(const std::vector<delegates::PayloadArgument>& arguments) {
  Json list = Json::array();
  for (const delegates::PayloadArgument& argument : arguments) {
    Json& item = list.emplace_back();
    if (!argument.name.empty()) item["name"] = argument.name;
    item["value"] = argument.text;
  }
  return list;
}

Json graph_json(const delegates::PayloadGraph& graph) {
  Json json = {{"name", graph.name},
               {"inputs", graph.inputs},
               {"outputs", graph.outputs},
               {"operators", Json::array()}};
  for (const delegates::PayloadOperator& op : graph.operators) {
    json["operators"].push_back({{"name", op.name},
                                 {"arguments", arguments_json(op.arguments)},
                                 {"inputs", op.inputs},
                                 {"outputs", op.outputs}});
    if (!op.debug_handles.empty()) json["operators"].back()["debug_handles"] = op.debug_handles;
  }
  return json;
}

Json tensor_json(const delegates::PayloadTensor& tensor) {
  Json json = {{"type", delegates::tensor_text(tensor)}};
  if (!tensor.name.empty()) json["name"] = tensor.name;
  if (!tensor.storage.empty()) json["storage"] = tensor.storage;
  if (tensor.constant) {
    json["constant"] = {{"bytes", tensor.constant->bytes},
                        {"location", tensor.constant->location},
                        {"missing", tensor.constant->is_missing}};
  }
  return json;
}

Json description_json(const PayloadDescription& from) {
  std::map<std::string, size_t> operators, dtypes;
  Json json = {{"kind", from.kind},
               {"version", from.version},
               {"options", arguments_json(from.options)},
               {"operators", from.operators},
               {"constants", from.constants},
               {"constant_bytes", from.constant_bytes},
               {"missing_constants", from.missing_constants},
               {"operator_types", Json::object()},
               {"datatypes", Json::object()},
               {"graphs", Json::array()},
               {"tensors", Json::array()},
               {"parts", Json::array()},
               {"facts", from.facts},
               {"notes", from.notes},
               {"closed", from.closed}};
  for (const delegates::PayloadGraph& graph : from.graphs) {
    json["graphs"].push_back(graph_json(graph));
    for (const delegates::PayloadOperator& op : graph.operators) ++operators[op.name];
  }
  for (const delegates::PayloadTensor& tensor : from.tensors) {
    json["tensors"].push_back(tensor_json(tensor));
    if (tensor.dtype != "?") ++dtypes[tensor.dtype];
  }
  for (const delegates::PayloadPart& part : from.parts) {
    json["parts"].push_back(
        {{"name", part.name}, {"bytes", part.bytes}, {"content", part.content}});
  }
  json["operator_types"] = operators;
  json["datatypes"] = dtypes;
  return json;
}

// Describes a program that is the payload of a delegate. Programs may nest.
Json nested_program_json(std::span<const std::byte> bytes) {
  static thread_local int depth = 0;
  if (depth == kMaxNestedPrograms) {
    throw FormatError(fmt::format("programs nest more than {} deep", kMaxNestedPrograms));
  }
  struct Level {
    Level() { ++depth; }
    ~Level() { --depth; }
  } level;
  const AlignedBytes program(bytes);
  Json json = {{"bytes", bytes.size()}};
  describe_program({"program", program.bytes()}, json);
  return json;
}

// Provides the tensors of an ExecuTorch Native model by key.
class PackageData final : public NamedDataMap {
 public:
  explicit PackageData(const native::NativePackage& package) : package_(package) {}
  size_t size() const override { return package_.tensors.size(); }
  std::string_view key(size_t index) const override {
    if (index >= size()) return {};
    return std::next(package_.tensors.begin(), static_cast<ptrdiff_t>(index))->first;
  }
  Result<DataBuffer> get(std::string_view key) const override {
    const auto found = package_.tensors.find(key);
    if (found == package_.tensors.end()) return Error::make(ErrorCode::kNotFound, "no such key");
    return DataBuffer(found->second.bytes);
  }
  Result<std::optional<TensorLayout>> layout(std::string_view /*key*/) const override {
    return std::optional<TensorLayout>();
  }

 private:
  const native::NativePackage& package_;
};

}  // namespace

Json payload_json(const delegates::PayloadInput& input) {
  try {
    const PayloadDescription description = delegates::describe_payload(input);
    Json json = {{"payload", description_json(description)}};
    if (!description.program.empty()) json["program"] = nested_program_json(description.program);
    return json;
  } catch (const HostError& error) {
    return {{"error", error.what()}};
  }
}

void describe_foreign_payload(const OpenedFile& file, Json& json) {
  const PayloadDescription description =
      delegates::describe_payload({.bytes = file.bytes, .data = file.data});
  json["payload"] = description_json(description);
  if (!description.program.empty()) json["program"] = nested_program_json(description.program);
}

void describe_native_model(const OpenedFile& file, Json& json) {
  const native::NativePackage package =
      native::read_native_package({file.bytes, nullptr}, file.name);
  const PackageData data(package);
  json["payload"] =
      description_json(delegates::describe_payload({.bytes = package.graph.span, .data = &data}));
}

std::vector<std::string> payload_lines(const Json& payload) {
  std::vector<std::string> lines;
  const Json& tensors = payload["tensors"];
  const auto text = [](const Json& value) {
    return printable(value.get_ref<const std::string&>());
  };
  for (const Json& graph : payload["graphs"]) {
    if (payload["graphs"].size() > 1) lines.push_back(text(graph["name"]) + ":");
    size_t number = 0;
    for (const Json& op : graph["operators"]) {
      std::string line = fmt::format("[{}] {}(", number++, text(op["name"]));
      bool is_first = true;
      for (const Json& argument : op["arguments"]) {
        if (!is_first) line += ", ";
        is_first = false;
        if (argument.contains("name")) line += text(argument["name"]) + "=";
        line += text(argument["value"]);
      }
      line += ")";
      is_first = true;
      for (const Json& output : op["outputs"]) {
        const std::string type = text(tensors[output.get<size_t>()]["type"]);
        line += fmt::format("{}%{}{}{}", is_first ? " -> " : ", ", output.get<size_t>(),
                            type == "?" ? "" : " ", type == "?" ? "" : type);
        is_first = false;
      }
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

}  // namespace vitrine::tools
