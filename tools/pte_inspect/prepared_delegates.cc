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

// Memory is limited to the available memory, and to kMemoryPerFile for intermediate tensors plus
// kMemoryPerFileByte per byte of the file for packed weights. Packed weights can be several times
// as large as stored weights.
constexpr uint64_t kMemoryPerFileByte = 8;
constexpr uint64_t kMemoryPerFile = uint64_t{1} << 30;

// Many delegates of a hostile file may share a long backend id.
constexpr size_t kMaxIdBytes = 80;
constexpr size_t kMaxReasons = 32;

uint64_t file_bytes(const Program& program, const NamedDataMap* external) {
  return program.file_bytes() + (external != nullptr ? external->file_bytes() : 0);
}

bool has_fixed_size(const fbs::EValue& value) {
  const fbs::Tensor* tensor = value.val_as_Tensor();
  return tensor == nullptr || tensor->shape_dynamism() == fbs::TensorShapeDynamism::STATIC;
}

// True for each delegate that is called, always with arguments of fixed sizes.
std::vector<bool> delegates_with_fixed_sizes(const fbs::ExecutionPlan& plan) {
  const size_t count = size_of(plan.delegates());
  std::vector<bool> is_called(count);
  std::vector<bool> is_dynamic(count);
  for (uint32_t c = 0; c < size_of(plan.chains()); ++c) {
    const auto* instructions = plan.chains()->Get(c)->instructions();
    for (uint32_t i = 0; i < size_of(instructions); ++i) {
      const auto* call = instructions->Get(i)->instr_args_as_DelegateCall();
      if (call == nullptr) continue;
      const auto delegate = static_cast<size_t>(call->delegate_index());
      if (delegate >= count) continue;
      is_called[delegate] = true;
      for (uint32_t k = 0; k < size_of(call->args()); ++k) {
        const auto value = static_cast<uint32_t>(call->args()->Get(k));
        const bool is_known = value < size_of(plan.values());
        if (!is_known || !has_fixed_size(*plan.values()->Get(value))) is_dynamic[delegate] = true;
      }
    }
  }
  std::vector<bool> fixed(count);
  for (size_t i = 0; i < count; ++i) fixed[i] = is_called[i] && !is_dynamic[i];
  return fixed;
}

}  // namespace

DelegatePreparer::DelegatePreparer(const Program& program, const NamedDataMap* external)
    : program_(program),
      data_(external, &program.named_data()),
      pool_(check(ThreadPool::create(0))),
      memory_(std::min(platform::available_memory(),
                       kMemoryPerFile + kMemoryPerFileByte * file_bytes(program, external))),
      steps_(default_load_steps(file_bytes(program, external))) {}

std::unique_ptr<Delegate> DelegatePreparer::load(const fbs::BackendDelegate& delegate,
                                                 bool has_fixed_sizes) {
  const BackendInterface* backend = all_backends().find(delegate.id()->string_view());
  if (backend == nullptr) {
    throw ToolError(fmt::format("this build lacks the backend {}",
                                delegate.id()->string_view().substr(0, kMaxIdBytes)));
  }
  const DataBuffer payload = check(ProgramAccess::payload(program_, *delegate.processed()));
  if (!steps_.take(payload.size())) {
    throw ToolError("not loaded: the payloads of all delegates exceed the work limit of the file");
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
  context.has_fixed_sizes = has_fixed_sizes;
  std::unique_ptr<Delegate> loaded = check(backend->init(context, payload.bytes(), specs));
  check(loaded->plan_memory());
  return loaded;
}

Json DelegatePreparer::prepare(const fbs::ExecutionPlan& plan) {
  Json unknown = Json::array();
  size_t missing = 0;
  std::vector<std::unique_ptr<Delegate>> loaded;
  const std::vector<bool> fixed = delegates_with_fixed_sizes(plan);
  for (uint32_t i = 0; i < size_of(plan.delegates()); ++i) {
    try {
      loaded.push_back(load(*plan.delegates()->Get(i), fixed[i]));
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
