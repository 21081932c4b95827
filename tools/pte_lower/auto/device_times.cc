#include "tools/pte_lower/auto/device_times.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "tools/common/device_profile.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

using inspector::Profile;
using inspector::ProfileRow;

constexpr const char* kOption = "--device_times";
constexpr double kNsInMs = 1e6;
constexpr std::string_view kFloat = "float";
constexpr std::string_view kFlops = "FLOPs";
constexpr std::string_view kBytes = "bytes";

// "aten.add_.Tensor" becomes "aten.add.Tensor": programs do not contain in-place operators.
std::string functional_name(std::string name) {
  const size_t at = name.find("_.");
  return at == std::string::npos ? name : name.erase(at, 1);
}

bool is_inside(std::string_view module, std::string_view outer) {
  return module.starts_with(outer) &&
         (module.size() == outer.size() || module[outer.size()] == '.');
}

// Returns the part whose module contains a profile row, else the part that is named after the row's
// operator, else null.
const ModelPart* part_of(const ProfileRow& row, const std::vector<ModelPart>& parts) {
  if (row.main_op >= std::min(row.source_ops.size(), row.modules.size())) return nullptr;
  const std::string& module = row.modules[row.main_op];
  const std::string& op = row.source_ops[row.main_op];
  for (const ModelPart& part : parts) {
    if (is_inside(module, part.name) || functional_name(part.name) == op) return &part;
  }
  return nullptr;
}

bool is_quantized(const Profile& profile) {
  const auto is_quantizing = [](const std::string& op) {
    return op.starts_with("quantized_decomposed.quantize") ||
           op.starts_with("quantized_decomposed.dequantize");
  };
  return std::ranges::any_of(profile.rows, [&](const ProfileRow& row) {
    return std::ranges::any_of(row.source_ops, is_quantizing) ||
           std::ranges::any_of(row.folded_ops, is_quantizing);
  });
}

// Returns the paths of all modules in which the model calls operators.
std::set<std::string> modules_of(const aot::ExportedProgram& program) {
  std::set<std::string> modules = {""};
  for (const aot::Node& node : program.graph->nodes()) {
    if (!node.is_call() || node.meta.origin == nullptr) continue;
    for (const auto& entry : node.meta.origin->module_stack) modules.insert(entry.path);
  }
  return modules;
}

std::vector<std::string> input_texts(const aot::CalibrationSample& sample) {
  std::vector<std::string> texts;
  for (const aot::TensorData& input : sample.inputs) {
    texts.push_back(
        fmt::format("{}[{}]", scalar_type_name(input.dtype), fmt::join(input.sizes, ",")));
  }
  return texts;
}

// Describes how the profiled model differs from `program`. Empty if no difference is known.
std::string model_difference(const Profile& profile, const aot::ExportedProgram& program,
                             const std::vector<ModelPart>& parts,
                             const aot::CalibrationSample& sample) {
  const std::vector<std::string> inputs = input_texts(sample);
  if (!profile.run.inputs.empty() && profile.run.inputs != inputs) {
    return fmt::format("its inputs are {}, but those of the calibration data are {}",
                       fmt::join(profile.run.inputs, ", "), fmt::join(inputs, ", "));
  }
  const std::set<std::string> modules = modules_of(program);
  for (const ProfileRow& row : profile.rows) {
    for (const std::string& module : row.modules) {
      if (modules.contains(module)) continue;
      return fmt::format("its row {} belongs to module {}, which the model does not have",
                         &row - profile.rows.data() + 1, module);
    }
  }
  for (const ModelPart& part : parts) {
    const bool has_row = std::ranges::any_of(
        profile.rows, [&](const ProfileRow& row) { return part_of(row, parts) == &part; });
    const bool is_operator = part.name.starts_with("aten.");
    if (!has_row && !is_operator) return fmt::format("it has no row for part {}", part.name);
  }
  return "";
}

// FLOPs and bytes of the rows of a part in one run.
struct PartWork {
  double flops = 0;
  double bytes = 0;
  bool is_known = true;
};

PartWork work_of(const ModelPart& part, const Profile& profile,
                 const std::vector<ModelPart>& parts) {
  PartWork work;
  for (const ProfileRow& row : profile.rows) {
    if (part_of(row, parts) != &part) continue;
    work.is_known = work.is_known && row.cost;
    if (!row.cost) continue;
    work.flops += row.cost->flops;
    work.bytes += row.cost->bytes;
  }
  return work;
}

// Describes the first part whose work differs between two profiles, or returns an empty text. Two
// models with the same module names can have layers of different widths. Compares bytes only if
// `compares_bytes` is true, because bytes also depend on the precision of neighboring operators.
std::string work_difference(const Profile& device, const Profile& here, bool compares_bytes,
                            const std::vector<ModelPart>& parts) {
  constexpr double kTolerance = 1e-2;
  for (const ModelPart& part : parts) {
    const PartWork a = work_of(part, device, parts), b = work_of(part, here, parts);
    if (!a.is_known || !b.is_known) continue;
    for (const auto& [unit, there, expected] :
         {std::tuple(kFlops, a.flops, b.flops), std::tuple(kBytes, a.bytes, b.bytes)}) {
      if (std::abs(there - expected) <= kTolerance * expected) continue;
      if (unit == kBytes && !compares_bytes) continue;
      return fmt::format("{} takes {:.4g} {} in the profile, but {:.4g} in the model", part.name,
                         there, unit, expected);
    }
  }
  return "";
}

}  // namespace

DeviceTimes::DeviceTimes(std::span<const std::string> files, const aot::ExportedProgram& program,
                         const std::vector<ModelPart>& parts, const aot::CalibrationSample& sample,
                         const std::function<Profile(const std::string& scheme)>& profile_here) {
  std::set<std::string> known = {std::string(kFloat)};
  for (const ModelPart& part : parts) {
    for (std::string& scheme : schemes_of(part)) known.insert(std::move(scheme));
  }
  std::map<std::string, double> walls;
  for (const std::string& text : files) {
    const size_t equals = text.find('=');
    const std::string scheme = text.substr(0, equals);
    if (equals == std::string::npos || !known.contains(scheme)) {
      throw ToolError(fmt::format("{} {}: expected SCHEME=FILE; the schemes of this model are {}",
                                  kOption, text, fmt::join(known, ", ")));
    }
    if (schemes_.contains(scheme)) {
      throw ToolError(fmt::format("{} {}: {} already has a profile", kOption, text, scheme));
    }
    DeviceProfile device = read_device_profile(text.substr(equals + 1), kOption);
    const Profile& profile = device.profile;
    if (profile.has_ticks) {
      throw ToolError(fmt::format("{} {}: its times are ticks of unknown length", kOption, text));
    }
    if (const std::string difference = model_difference(profile, program, parts, sample);
        !difference.empty()) {
      throw ToolError(
          fmt::format("{} {}: the profile is of another model: {}", kOption, text, difference));
    }
    const bool should_quantize = scheme != kFloat && scheme != "f16";
    if (is_quantized(profile) != should_quantize) {
      throw ToolError(fmt::format(
          "{} {}: expected a profile of the model in {}, but the profile {}", kOption, text, scheme,
          should_quantize ? "has no quantized operators" : "has quantized operators"));
    }
    if (const std::string difference =
            work_difference(profile, profile_here(scheme), scheme == kFloat, parts);
        !difference.empty()) {
      throw ToolError(fmt::format(
          "{} {}: the profile is of another model, or of a program that was lowered with other "
          "options: {}",
          kOption, text, difference));
    }
    if (scheme == kFloat) device_ = device.name;
    walls[scheme] = profile.typical(profile.wall) / kNsInMs;
    Scheme& made = schemes_[scheme];
    for (const ProfileRow& row : profile.rows) {
      const ModelPart* part = part_of(row, parts);
      if (part != nullptr) made.parts[part->name] += profile.typical(row.time) / kNsInMs;
    }
  }
  if (!schemes_.contains(std::string(kFloat)) || schemes_.size() < 2) {
    throw ToolError(
        fmt::format("{}: expected float=FILE and a profile of at least one other scheme: {}",
                    kOption, fmt::join(known, ", ")));
  }
  float_ms_ = walls.at(std::string(kFloat));
  const Scheme& in_float = schemes_.at(std::string(kFloat));
  for (auto& [name, scheme] : schemes_) {
    double parts_ms = 0;
    double parts_saved = 0;
    for (const ModelPart& part : parts) {
      if (std::ranges::count(tools::schemes_of(part), name) == 0) continue;
      const auto found = in_float.parts.find(part.name);
      parts_ms += found == in_float.parts.end() ? 0 : found->second;
      parts_saved += saved_ms(part.name, name);
    }
    if (parts_ms > 0) scheme.rest_saved = (float_ms_ - walls.at(name) - parts_saved) / parts_ms;
  }
}

double DeviceTimes::saved_ms(const std::string& part, const std::string& scheme) const {
  const auto time_in = [&](const std::string& name) {
    const Scheme& times = schemes_.at(name);
    const auto found = times.parts.find(part);
    return found == times.parts.end() ? 0.0 : found->second;
  };
  return time_in(std::string(kFloat)) - time_in(scheme);
}

double DeviceTimes::program_ms(const PartSchemes& schemes) const {
  const Scheme& in_float = schemes_.at(std::string(kFloat));
  double ms = float_ms_;
  for (const auto& [part, scheme] : schemes) {
    const auto found = in_float.parts.find(part);
    const double part_ms = found == in_float.parts.end() ? 0 : found->second;
    ms -= saved_ms(part, scheme) + schemes_.at(scheme).rest_saved * part_ms;
  }
  return ms;
}

}  // namespace vitrine::tools
