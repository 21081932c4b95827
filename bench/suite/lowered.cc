#include "bench/suite/lowered.h"

#include <utility>

#include "formats/etrecord/etrecord.h"
#include "inspector/join/cost.h"
#include "tools/common/files.h"
#include "tools/pte_lower/backends.h"

namespace vitrine::bench {
namespace {

double flops_in(std::span<const std::byte> record) {
  double flops = 0;
  for (const auto& [name, method] : etrecord::parse_etrecord(record).methods) {
    for (const etrecord::EdgeNode& node : method.graph.nodes) {
      flops += inspector::flops_of(node, method.graph).value_or(0);
    }
  }
  return flops;
}

}  // namespace

LoweredFile write_lowered(aot::ExportedProgram program, Backend backend,
                          const aot::EmitOptions& emit, bool make_record,
                          const std::filesystem::path& file, bool optimize) {
  aot::LowerOptions options;
  std::vector<std::string> backends;
  if (backend == Backend::kDynamicXnnpack) backends.emplace_back("xnnpack-dynamic");
  if (backend != Backend::kNone) backends.emplace_back("xnnpack");
  options.partitioners = tools::make_partitioners(backends);
  options.emit = emit;
  options.make_record = make_record;
  options.optimize = optimize;
  if (optimize) options.attention = aot::AttentionOperator::kAuto;
  tools::NewFile out(file);
  options.sink = [&](std::span<const std::byte> bytes) { out.append(bytes); };
  aot::Methods methods;
  methods.emplace("forward", std::move(program));
  const aot::LoweredModel model = aot::lower(std::move(methods), options);
  out.commit();
  LoweredFile lowered;
  if (make_record) lowered.flops = flops_in(model.record);
  for (const auto& [name, info] : model.emitted.debug_info)
    lowered.delegates += info.delegates.size();
  for (const auto& [name, changes] : model.changes) lowered.changes += changes.size();
  return lowered;
}

}  // namespace vitrine::bench
