#include "tools/pte_inspect/prepared_delegates.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "runtime/executor/load_steps.h"
#include "runtime/platform/memory.h"
#include "runtime/platform/vector_size.h"
#include "tools/common/backends.h"
#include "tools/common/tool_error.h"
#include "vitrine/backend.h"

namespace vitrine::tools {
namespace {

namespace fbs = schema::program;

// The limit on memory grows with the file, because packed weights can be several times as large as
// stored weights. Its constant part is for intermediate tensors, which do not depend on the file's
// size.
constexpr uint64_t kMemoryPerFileByte = 8;
constexpr uint64_t kMemoryPerFile = uint64_t{1} << 30;

// Limits the printed backend id, because many delegates of a hostile file may share a long id.
constexpr size_t kMaxIdBytes = 80;
constexpr size_t kMaxReasons = 32;

uint64_t file_bytes(const Program& program, const NamedDataMap* external) {
  return program.file_bytes() + (external != nullptr ? external->file_bytes() : 0);
}

}  // namespace

DelegatePreparer::DelegatePreparer(const Program& program, const NamedDataMap* external)
    : program_(program),
      data_(external, &program.named_data()),
      pool_(check(ThreadPool::create(0))),
      memory_(std::min(platform::available_memory(),
                       kMemoryPerFile + kMemoryPerFileByte * file_bytes(program, external))),
      steps_(default_load_steps(file_bytes(program, external))) {}

std::unique_ptr<Delegate> DelegatePreparer::load(const fbs::BackendDelegate& delegate) {
  const BackendInterface* backend = all_backends().find(delegate.id()->string_view());
  if (backend == nullptr) {
    throw ToolError(fmt::format("this build lacks the backend {}",
                                delegate.id()->string_view().substr(0, kMaxIdBytes)));
  }
  const DataBuffer payload = check(ProgramAccess::payload(program_, *delegate.processed()));
  if (!steps_.take(payload.size())) {
    throw ToolError("the delegates share payloads too often to load them all");
  }
  std::vector<CompileSpec> specs;
  for (uint32_t i = 0; i < size_of(delegate.compile_specs()); ++i) {
    const fbs::CompileSpec& spec = *delegate.compile_specs()->Get(i);
    CompileSpec& made = specs.emplace_back();
    made.key = spec.key()->string_view();
    if (spec.value() != nullptr) {
      made.value = std::as_bytes(std::span(spec.value()->data(), spec.value()->size()));
    }
  }
  BackendInitContext context;
  context.named_data = &data_;
  context.pool = pool_.get();
  context.program = &program_;
  context.memory = &memory_;
  context.load_steps = &steps_;
  std::unique_ptr<Delegate> loaded = check(backend->init(context, payload.bytes(), specs));
  check(loaded->plan_memory());
  return loaded;
}

Json DelegatePreparer::prepare(const fbs::ExecutionPlan& plan) {
  Json unknown = Json::array();
  size_t missing = 0;
  std::vector<std::unique_ptr<Delegate>> loaded;
  for (uint32_t i = 0; i < size_of(plan.delegates()); ++i) {
    try {
      loaded.push_back(load(*plan.delegates()->Get(i)));
    } catch (const ToolError& error) {
      ++missing;
      if (missing <= kMaxReasons)
        unknown.push_back(fmt::format("delegate {}: {}", i, error.what()));
    }
  }
  if (missing > kMaxReasons) {
    unknown.push_back(fmt::format("and {} more delegates", missing - kMaxReasons));
  }
  using Kind = DelegateMemory::Kind;
  DelegateMemory memory;
  for (const auto& delegate : loaded) delegate->report_memory(memory);
  return {{"how", "prepared on this machine"},
          {"threads", pool_->threads()},
          {"packed_weights_bytes", memory.bytes(Kind::kPackedWeights)},
          {"workspace_bytes", memory.bytes(Kind::kWorkspace)},
          {"constants_bytes", memory.bytes(Kind::kConstants)},
          {"unknown", std::move(unknown)}};
}

}  // namespace vitrine::tools
