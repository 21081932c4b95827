// Lowers exported methods to a program, like ExecuTorch's to_edge_transform_and_lower.
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
#include "aot/optimize/changes.h"
#include "aot/pipeline/declared_operators.h"
#include "aot/pipeline/dynamic_bounds.h"
#include "aot/pipeline/op_filter.h"
#include "aot/pipeline/quantization.h"

namespace vitrine::aot {

// Operators that compute attention: ATen's matrix products, or llama::custom_sdpa.
enum class AttentionOperator : uint8_t {
  kAten,
  kCustomSdpa,  // custom_sdpa for all attention that it supports; an error if there is none
  kAuto,        // custom_sdpa where it gives equal results and is known to be faster
};
// Parses "aten", "custom_sdpa" or "auto". Returns an empty optional for any other name.
std::optional<AttentionOperator> attention_operator(std::string_view name);

struct LowerOptions {
  std::vector<std::shared_ptr<const Partitioner>> partitioners;  // in order of preference
  OpFilter filter;
  std::vector<DynamicBound> bounds;
  std::vector<const Operator*> operators;  // custom operators from parse_operator()
  AttentionOperator attention = AttentionOperator::kAten;
  Quantization quantize;
  CalibrationData calibration;  // for static int8
  // If emit.external_constants is set, .ptd files also store weights that delegates read by name.
  EmitOptions emit;
  bool fold_constants = false;  // before delegation
  // Applies the optimizations of aot/optimize that do not increase the planned memory.
  bool optimize = false;
  bool make_record = false;
  // Receives the program's bytes in order. If null, LoweredModel::emitted has the bytes.
  ByteSink sink;
  // Called at the start of each step of lowering, unless null. `method` is empty if the step
  // applies to all methods.
  std::function<void(std::string_view step, std::string_view method)> progress;
};

struct LoweredModel {
  EmittedProgram emitted;
  uint64_t program_bytes = 0;
  std::vector<std::byte> record;  // an ETRecord; empty unless it was requested
  // Notes for the user, for example the reasons why layers were not quantized.
  std::vector<std::string> notes;
  // The methods after delegation, for reports. `rejections` refers to nodes of these methods.
  Methods methods;
  std::map<std::string, std::vector<Rejection>, std::less<>> rejections;
  // The changes that the options `attention` and `optimize` made, by method.
  std::map<std::string, std::vector<Change>, std::less<>> changes;
  // Results of quantization to int8, by method. Empty if no method was quantized to int8.
  std::map<std::string, Int8Result, std::less<>> int8;
};

// Imports a .pt2 or .ptn file for each method. A single .ptn file provides all its methods, under
// the names in the file. ImportErrors name the file.
Methods import_methods(const std::map<std::string, std::filesystem::path>& files);

// Lowers `exported`. Throws AotErrors that name the method and the node, or the option that does
// not match the model.
LoweredModel lower(Methods exported, const LowerOptions& options);

}  // namespace vitrine::aot
