#include "tools/pte_lower/backends.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "backends/xnnpack/aot/partitioner.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

constexpr std::string_view kEnableBf16 = "enable_bf16";

std::shared_ptr<const aot::Partitioner> make(aot::XnnpackPartitioner::Options made,
                                             BackendOptions given) {
  made.enable_bf16 = std::ranges::count(given, kEnableBf16) != 0;
  return std::make_shared<aot::XnnpackPartitioner>(made);
}

std::shared_ptr<const aot::Partitioner> make_xnnpack(BackendOptions options) {
  return make({}, options);
}

// Corresponds to ExecuTorch's XnnpackDynamicallyQuantizedPartitioner.
std::shared_ptr<const aot::Partitioner> make_xnnpack_dynamic(BackendOptions options) {
  return make({.precisions = aot::xnnpack::kDynamic, .per_op = true}, options);
}

// Also delegates calls inside branches. ExecuTorch's partitioner leaves these calls to kernels.
std::shared_ptr<const aot::Partitioner> make_xnnpack_branches(BackendOptions options) {
  return make({.in_branches = true}, options);
}

std::vector<BackendRow>& rows() {
  static std::vector<BackendRow> known = {
      {"xnnpack",
       "CPU: convolutions, products, elementwise operators",
       make_xnnpack,
       {kEnableBf16}},
      {"xnnpack-dynamic",
       "only matrix products with dynamic quantization, one per delegate; list it before xnnpack",
       make_xnnpack_dynamic,
       {kEnableBf16}},
      {"xnnpack-branches",
       "like xnnpack, and also inside branches of control flow",
       make_xnnpack_branches,
       {kEnableBf16}},
  };
  return known;
}

}  // namespace

void add_lowering_backend(const BackendRow& row) { rows().push_back(row); }

std::span<const BackendRow> lowering_backends() { return rows(); }

const BackendRow& lowering_backend(std::string_view name) {
  const auto found = std::ranges::find(rows(), name, &BackendRow::name);
  if (found != rows().end()) return *found;
  std::string known = "none";
  for (const BackendRow& row : rows()) known += fmt::format(", {}", row.name);
  throw ToolError(fmt::format("--backend {}: unknown backend; this build has {}", name, known));
}

std::vector<std::shared_ptr<const aot::Partitioner>> make_partitioners(
    std::span<const std::string> backends, BackendOptions options) {
  std::vector<std::shared_ptr<const aot::Partitioner>> made;
  std::vector<std::string_view> known;
  for (const std::string& name : backends) {
    const BackendRow& row = lowering_backend(name);
    made.push_back(row.make_partitioner(options));
    known.insert(known.end(), row.options.begin(), row.options.end());
  }
  for (const std::string& option : options) {
    if (std::ranges::count(known, option) != 0) continue;
    throw ToolError(
        fmt::format("--backend-option {}: the chosen backends ({}) have no such option", option,
                    backends.empty() ? "none" : fmt::to_string(fmt::join(backends, ", "))));
  }
  return made;
}

}  // namespace vitrine::tools
