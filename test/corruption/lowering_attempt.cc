#include "test/corruption/lowering_attempt.h"

#include <memory>
#include <stdexcept>
#include <vector>

#include "aot/emit/emit.h"
#include "aot/emit/record.h"
#include "aot/graph/aot_error.h"
#include "aot/graph/print.h"
#include "aot/import/native.h"
#include "aot/import/pt2.h"
#include "aot/lowering/to_backend.h"
#include "aot/passes/pipelines.h"
#include "backends/xnnpack/aot/partitioner.h"
#include "demo_backend/lowering.h"
#include "formats/etrecord/etrecord.h"
#include "formats/native/native_package.h"
#include "test/support/acceptance.h"
#include "test/support/program_builder.h"
#include "vitrine/program.h"

namespace vitrine::test {
namespace {

std::vector<std::shared_ptr<const aot::Partitioner>> partitioners_of(LoweringPath path) {
  if (path == LoweringPath::kXnnpack) return {std::make_shared<aot::XnnpackPartitioner>()};
  if (path == LoweringPath::kDemo) {
    return {std::make_shared<demo::DemoPartitioner>()};
  }
  return {};
}

void require_loadable(const std::vector<std::byte>& pte) {
  const AlignedBytes bytes(pte.begin(), pte.end());
  const std::span<const std::byte> view(reinterpret_cast<const std::byte*>(bytes.data()),
                                        bytes.size());
  const std::vector<std::string> violated = violated_rules(view);
  if (!violated.empty()) throw std::logic_error(violated.front());
  auto source = view_buffer(view);
  if (!source.ok()) throw std::logic_error("view_buffer failed");
  const auto program = Program::load(std::move(*source));
  if (!program.ok()) {
    throw std::logic_error(std::string("the runtime rejects the emitted program: ") +
                           program.error().message());
  }
}

void lower(std::span<const std::byte> pt2, LoweringPath path) {
  aot::ExportedProgram program =
      native::is_native_model(pt2)
          ? std::move(aot::parse_native(pt2, nullptr, "model.ptn").begin()->second)
          : aot::parse_pt2(pt2, nullptr, "model.pt2");
  aot::format_graph(*program.graph);
  const auto partitioners = partitioners_of(path);
  aot::EdgeOptions options;
  for (const auto& partitioner : partitioners) {
    options.ops_to_keep.push_back(partitioner->ops_to_keep(program));
  }
  const std::vector<aot::OpsToKeep> kept = options.ops_to_keep;
  aot::to_edge(program, options);
  aot::Methods edge;
  edge.emplace("forward", program.copy());
  if (!partitioners.empty()) {
    aot::to_backend(program, partitioners);
    aot::require_kept_ops_lowered(program, kept);
  }
  aot::to_executable(program);
  aot::Methods executable;
  executable.emplace("forward", std::move(program));
  const aot::EmittedProgram emitted = aot::emit(executable);
  require_loadable(emitted.pte);
  etrecord::parse_etrecord(aot::write_record(edge, emitted.debug_info));
}

}  // namespace

std::string attempt_lowering(std::span<const std::byte> pt2, LoweringPath path) {
  try {
    lower(pt2, path);
  } catch (const aot::AotError& error) {
    return error.what();
  }
  return "";
}

}  // namespace vitrine::test
