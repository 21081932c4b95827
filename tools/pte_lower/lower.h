// Exported methods -> a program: the flow of ExecuTorch's to_edge_transform_and_lower.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "aot/emit/emit.h"
#include "aot/lowering/partitioner.h"
#include "tools/pte_lower/dynamic_bounds.h"
#include "tools/pte_lower/op_filter.h"

namespace vitrine::tools {

struct LowerOptions {
  std::vector<std::shared_ptr<const aot::Partitioner>> partitioners;  // in order of preference
  OpFilter filter;
  std::vector<DynamicBound> bounds;
  // Weights that delegates keep by name go to the .ptd too, if constants are external.
  aot::EmitOptions emit;
  bool fold_constants = false;  // before delegation
  bool make_record = false;
  // Where the program's bytes go, in order; null: to LoweredModel::emitted.
  aot::ByteSink sink;
  // Told what begins, for a method or, if that is empty, for all. May be null.
  std::function<void(std::string_view step, std::string_view method)> progress;
};

struct LoweredModel {
  aot::EmittedProgram emitted;
  uint64_t program_bytes = 0;
  std::vector<std::byte> record;  // an ETRecord; empty unless asked for
  // As the backends left them, for reports. The rejections' nodes are in their graphs.
  aot::Methods methods;
  std::map<std::string, std::vector<aot::Rejection>, std::less<>> rejections;
};

// By method. ImportErrors name the file.
aot::Methods import_methods(const std::map<std::string, std::filesystem::path>& files);

// AotErrors name method and node; ToolErrors the option that does not fit the model.
LoweredModel lower(aot::Methods exported, const LowerOptions& options);

}  // namespace vitrine::tools
