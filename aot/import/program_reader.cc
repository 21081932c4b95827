#include "aot/import/program_reader.h"

#include <cmath>

#include "aot/import/graph_reader.h"
#include "aot/import/signature_reader.h"

namespace vitrine::aot {
namespace {

constexpr int64_t kSchemaMajor = 8;

void check_version(const JsonValue& root) {
  const JsonValue version = root.at("schema_version");
  const int64_t major = version.at("major").integer();
  const bool is_unversioned = major == 0 && version.at("minor").integer() == 0;
  if (major != kSchemaMajor && !is_unversioned) {
    version.fail(
        fmt::format("is {}, but only version {} is supported; export the model again with PyTorch "
                    "2.5 or later",
                    major, kSchemaMajor));
  }
}

ModuleCallEntry read_module_call(const JsonValue& value) {
  ModuleCallEntry entry;
  entry.path = value.at("fqn").string();
  if (!value.holds("signature")) return entry;
  const JsonValue signature = value.at("signature");
  entry.has_signature = true;
  entry.in_spec = signature.at("in_spec").string();
  entry.out_spec = signature.at("out_spec").string();
  if (signature.holds("forward_arg_names")) {
    signature.at("forward_arg_names").each_item([&](const JsonValue& name) {
      entry.forward_arg_names.push_back(name.string());
    });
  }
  return entry;
}

bool is_infinite(const JsonValue& value) {
  return !value.is_integer() && std::isinf(value.number());
}

// Reads a bound of a range. A null or infinite bound does not limit the range.
Range read_range(const JsonValue& value) {
  const auto is_bounded = [&value](const char* name) {
    return value.holds(name) && !is_infinite(value.at(name));
  };
  Range range;
  if (is_bounded("min_val")) range.min = value.at("min_val").integer();
  if (is_bounded("max_val")) range.max = value.at("max_val").integer();
  return range;
}

}  // namespace

ExportedProgram read_program(const JsonValue& root) {
  check_version(root);
  ExportedProgram program;
  const JsonValue module = root.at("graph_module");
  const JsonValue signature = module.at("signature");
  const std::vector<std::string> names = read_literal_names(signature.at("input_specs"));
  GraphReader reader(module.at("graph"), *program.graph);
  reader.read(names);
  program.signature = read_signature(signature, reader);
  root.at("range_constraints").each_member([&](const std::string& symbol, const JsonValue& range) {
    program.range_constraints.emplace(symbol, read_range(range));
  });
  module.at("module_call_graph").each_item([&](const JsonValue& entry) {
    program.module_call_graph.push_back(read_module_call(entry));
  });
  root.at("opset_version").each_member([&](const std::string& name, const JsonValue& version) {
    program.opset_version.emplace(name, version.integer());
  });
  if (root.holds("verifiers")) {
    root.at("verifiers").each_item([&](const JsonValue& name) {
      program.verifiers.push_back(name.string());
    });
  }
  if (root.holds("torch_version")) program.torch_version = root.at("torch_version").string();
  return program;
}

}  // namespace vitrine::aot
