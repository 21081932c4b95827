// Exported methods -> a program: the flow of ExecuTorch's to_edge_transform_and_lower.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aot/emit/emit.h"
#include "aot/lowering/partitioner.h"
#include "aot/optimise/changes.h"
#include "aot/pipeline/declared_operators.h"
#include "aot/pipeline/dynamic_bounds.h"
#include "aot/pipeline/op_filter.h"
#include "aot/pipeline/quantisation.h"

namespace vitrine::aot {

// What computes attention: ATen's products, or llama::custom_sdpa (replace_attention.h).
enum class AttentionOperator : uint8_t {
  kAten,
  kCustomSdpa,  // where it can; an error if it can nowhere
  kAuto,        // where it gives the same and is known to be faster
};
// "aten", "custom_sdpa", "auto".
std::optional<AttentionOperator> attention_operator(std::string_view name);

struct LowerOptions {
  std::vector<std::shared_ptr<const Partitioner>> partitioners;  // in order of preference
  OpFilter filter;
  std::vector<DynamicBound> bounds;
  // Before everything else:
  std::vector<const Operator*> operators;  // beside those of the table: parse_operator()
  AttentionOperator attention = AttentionOperator::kAten;
  QuantiseOptions quantise;
  // Weights that delegates keep by name go to the .ptd too, if constants are external.
  EmitOptions emit;
  bool fold_constants = false;  // before delegation
  // Goes beyond stock lowering, where a method's planned memory does not grow (aot/optimise).
  bool optimise = false;
  bool make_record = false;
  // Where the program's bytes go, in order; null: to LoweredModel::emitted.
  ByteSink sink;
  // Told what begins, for a method or, if that is empty, for all. May be null.
  std::function<void(std::string_view step, std::string_view method)> progress;
};

struct LoweredModel {
  EmittedProgram emitted;
  uint64_t program_bytes = 0;
  std::vector<std::byte> record;  // an ETRecord; empty unless asked for
  // What was to be quantised or replaced and is not, and why.
  std::vector<std::string> notes;
  // As the backends left them, for reports. The rejections' nodes are in their graphs.
  Methods methods;
  std::map<std::string, std::vector<Rejection>, std::less<>> rejections;
  std::map<std::string, std::vector<Change>, std::less<>>
      changes;  // what `attention`, `optimise` did
};

// By method. ImportErrors name the file.
Methods import_methods(const std::map<std::string, std::filesystem::path>& files);

// AotErrors name method and node; AotErrors the option that does not fit the model.
LoweredModel lower(Methods exported, const LowerOptions& options);

}  // namespace vitrine::aot
