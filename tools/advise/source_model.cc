#include "tools/advise/source_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "runtime/platform/clock.h"
#include "tools/common/tool_error.h"
#include "tools/pte_lower/calibration_files.h"
#include "tools/pte_lower/options.h"

namespace vitrine::tools {
namespace {

using aot::Node;

void count_call(const std::string& op, ModelFacts& facts) {
  if (op.starts_with("aten.linear.")) ++facts.linears;
  if (op.starts_with("aten.conv")) ++facts.convolutions;
  if (op.starts_with("aten.embedding.")) ++facts.embeddings;
  if (op.find("scaled_dot_product_attention") != std::string::npos) ++facts.attentions;
  if (op.find("softmax") != std::string::npos) ++facts.attentions;  // written out as products
  if (op.find("quantize") != std::string::npos) facts.is_quantized = true;
}

void add_dynamic_sizes(const aot::ExportedProgram& program, ModelFacts& facts) {
  size_t next = 0;
  for (const aot::InputSpec& spec : program.signature.inputs) {
    if (spec.kind != aot::InputSpec::Kind::kUserInput) continue;
    const size_t input = next++;
    const Node* node = program.graph->find(spec.name);
    const aot::TensorSpec* tensor = node == nullptr ? nullptr : node->tensor();
    if (tensor == nullptr) continue;
    for (size_t i = 0; i < tensor->rank(); ++i) {
      if (tensor->sizes[i].is_static()) continue;
      const aot::Range range =
          aot::bounds(tensor->sizes[i].expression(), program.range_constraints);
      facts.dynamic_sizes.push_back({.name = fmt::format("{}.{}", spec.name, i),
                                     .input = input,
                                     .dim = i,
                                     .min = range.min.value_or(0),
                                     .max = range.max.value_or(0)});
    }
  }
}

aot::Methods copy_of(const aot::Methods& methods) {
  aot::Methods copies;
  for (const auto& [name, program] : methods) copies.emplace(name, program.copy());
  return copies;
}

}  // namespace

SourceModel::SourceModel(std::filesystem::path file, std::string method)
    : file_(std::move(file)),
      method_(std::move(method)),
      methods_(aot::import_methods({{method_, file_}})) {}

LoweredProgram SourceModel::lower(const Settings& settings,
                                  const aot::CalibrationData& stand_in) const {
  const uint64_t start = platform::now_ns();
  std::vector<std::string> words = {"--method", method_ + "=" + file_.string(), "--summary"};
  for (std::string& word : words_of(settings)) words.push_back(std::move(word));
  int exit_code = 0;
  const auto options = parse_lowering_options(std::move(words), &exit_code);
  if (!options) throw ToolError("--baseline: invalid options (see 'vitrine lower --help')");
  if (options->emit.external_constants) {
    throw ToolError("--external-constants: advice needs the weights in the program");
  }
  LoweredProgram program;
  aot::LowerOptions lowering = to_lower_options(*options);
  lowering.sink = [&](std::span<const std::byte> bytes) {
    program.bytes.insert(program.bytes.end(), bytes.begin(), bytes.end());
  };
  if (!options->calibrate.empty()) {
    lowering.calibration = find_calibration_data(options->calibrate, methods_.begin()->second);
  } else {
    lowering.calibration = stand_in;
  }
  program.model = aot::lower(copy_of(methods_), lowering);
  const auto found = program.model.emitted.debug_info.find(method_);
  if (found != program.model.emitted.debug_info.end()) {
    program.planned_bytes = found->second.planned_bytes;
  }
  program.seconds = static_cast<double>(platform::now_ns() - start) * 1e-9;
  return program;
}

void add_written_buffers(const aot::ExportedProgram& program, ModelFacts& facts) {
  for (const aot::OutputSpec& output : program.signature.outputs) {
    if (output.kind != aot::OutputSpec::Kind::kBufferMutation) continue;
    ++facts.written_buffers;
    // Dims of a cache: batch, heads and tokens in either order, size of a head.
    const auto buffer = program.state_dict.find(output.target);
    const auto constant = program.constants.find(output.target);
    const aot::TensorData* data = buffer != program.state_dict.end()    ? &buffer->second
                                  : constant != program.constants.end() ? &constant->second
                                                                        : nullptr;
    if (data == nullptr || data->sizes.size() != 4) continue;
    facts.cache_length = std::max({facts.cache_length, data->sizes[1], data->sizes[2]});
    facts.cache_bytes += static_cast<uint64_t>(data->numel()) * element_size(data->dtype);
    facts.cache_dtype = data->dtype;
    facts.cache_values = data->sizes[3];
  }
}

const aot::ExportedProgram& SourceModel::program() const {
  const auto found = methods_.find(method_);
  return found == methods_.end() ? methods_.begin()->second : found->second;
}

ModelFacts SourceModel::facts() const {
  ModelFacts facts;
  const aot::ExportedProgram& program = this->program();
  for (const Node& node : program.graph->nodes()) {
    if (!node.is_call()) continue;
    count_call(node.target().name(), facts);
    facts.has_bf16 |= node.tensor() != nullptr && node.tensor()->dtype == ScalarType::kBFloat16;
  }
  for (const auto& [name, tensor] : program.state_dict) {
    facts.weight_bytes += static_cast<uint64_t>(tensor.numel()) * element_size(tensor.dtype);
  }
  add_dynamic_sizes(program, facts);
  return facts;
}

}  // namespace vitrine::tools
