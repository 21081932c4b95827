#include "tools/pte_lower/backends.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "backends/mapping_demo/aot/mapping_demo.h"
#include "backends/mapping_demo/format/operators.h"
#include "backends/xnnpack/aot/partitioner.h"
#include "backends/xnnpack/format/identifiers.h"
#include "host/tool_error.h"

namespace vitrine::tools {
namespace {

std::shared_ptr<const aot::Partitioner> make_xnnpack() {
  return std::make_shared<aot::XnnpackPartitioner>();
}

// Corresponds to ExecuTorch's XnnpackDynamicallyQuantizedPartitioner.
std::shared_ptr<const aot::Partitioner> make_xnnpack_dynamic() {
  aot::XnnpackPartitioner::Options options;
  options.precisions = aot::xnnpack::kDynamic;
  options.per_op = true;
  return std::make_shared<aot::XnnpackPartitioner>(options);
}

// Takes more than ExecuTorch's, which leaves branches to kernels.
std::shared_ptr<const aot::Partitioner> make_xnnpack_branches() {
  aot::XnnpackPartitioner::Options options;
  options.in_branches = true;
  return std::make_shared<aot::XnnpackPartitioner>(options);
}

std::shared_ptr<const aot::Partitioner> make_mapping_demo() {
  return std::make_shared<mapping_demo::MappingDemoPartitioner>();
}

constexpr std::array kBackends = {
    BackendRow{"xnnpack", xnnpack::kBackendId, "CPU: convolutions, products, elementwise operators",
               make_xnnpack},
    BackendRow{"xnnpack-dynamic", xnnpack::kBackendId,
               "only dynamically quantised products, one delegate each; put it before xnnpack",
               make_xnnpack_dynamic},
    BackendRow{"xnnpack-branches", xnnpack::kBackendId,
               "as xnnpack, in branches of control flow too", make_xnnpack_branches},
    BackendRow{"mapping-demo", mapping_demo::kBackendId,
               "an example for backend authors: convolution with relu, tan", make_mapping_demo},
};

}  // namespace

std::span<const BackendRow> lowering_backends() { return kBackends; }

const BackendRow& lowering_backend(std::string_view name) {
  const auto found = std::ranges::find(kBackends, name, &BackendRow::name);
  if (found != kBackends.end()) return *found;
  std::string known = "none";
  for (const BackendRow& row : kBackends) known += fmt::format(", {}", row.name);
  throw ToolError(fmt::format("--backend {}: this build has {}", name, known));
}

}  // namespace vitrine::tools
