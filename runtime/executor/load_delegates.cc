#include <algorithm>
#include <span>

#include "runtime/executor/method_loader.h"
#include "runtime/platform/vector_size.h"

namespace vitrine {

Error MethodLoader::load_delegates() {
  const uint32_t count = size_of(plan_.delegates());
  if (count == 0) return Error();
  const std::span<Delegate*> delegates = arena_.allocate_array<Delegate*>(count);
  const std::span<BackendInitContext> contexts = arena_.allocate_array<BackendInitContext>(count);
  if (delegates.size() != count || contexts.size() != count) return no_memory("delegates");
  VITRINE_RETURN_IF_ERROR(find_first_calls(contexts));
  for (uint32_t i = 0; i < count; ++i) {
    const fbs::BackendDelegate& delegate = *plan_.delegates()->Get(i);
    Result<std::unique_ptr<Delegate>> loaded = load_delegate(delegate, contexts[i]);
    if (!loaded.ok()) {
      return loaded.take_error().in("%s, delegates[%u] (%s)", plan_.name()->c_str(), i,
                                    delegate.id()->c_str());
    }
    delegates[i] = loaded->release();
    method_.delegates_ = delegates.first(i + 1);
  }
  for (uint32_t i = 0; i < count; ++i) {
    Error error = delegates[i]->finish_load();
    if (error.ok() || !method_.warning_.ok()) continue;
    method_.warning_ = std::move(error).in("%s, delegates[%u] (%s)", plan_.name()->c_str(), i,
                                           plan_.delegates()->Get(i)->id()->c_str());
  }
  return Error();
}

Result<std::unique_ptr<Delegate>> MethodLoader::load_delegate(const fbs::BackendDelegate& delegate,
                                                              BackendInitContext& context) {
  VITRINE_ASSIGN_OR_RETURN(const DataBuffer payload,
                           ProgramAccess::payload(program_, *delegate.processed()));
  // Each delegate is charged for its payload, because several delegates may share a payload and
  // each may copy it. Backends also charge for each element that they read.
  VITRINE_RETURN_IF_ERROR(charge_bytes(payload.bytes().size()));
  const uint32_t num_specs = size_of(delegate.compile_specs());
  const std::span<CompileSpec> specs = arena_.allocate_array<CompileSpec>(num_specs);
  if (specs.size() != num_specs) return no_memory("compile specs");
  for (uint32_t i = 0; i < num_specs; ++i) {
    const fbs::CompileSpec& spec = *delegate.compile_specs()->Get(i);
    specs[i].key = spec.key()->string_view();
    if (spec.value() != nullptr) {
      specs[i].value = std::as_bytes(std::span(spec.value()->data(), spec.value()->size()));
    }
  }
  context.named_data = &method_.named_data_;
  context.pool = options_.pool;
  context.tracer = options_.tracer;
  context.program = &program_;
  context.options = options_.backend_options;
  context.memory = &method_.memory_;
  context.load_steps = &method_.load_steps_;
  const BackendInterface* backend = options_.backends->find(delegate.id()->string_view());
  Result<std::unique_ptr<Delegate>> made = backend->init(context, payload.bytes(), specs);
  ProgramAccess::release_payload(program_, *delegate.processed());
  return made;
}

Error MethodLoader::plan_delegates() {
  uint32_t index = 0;
  for (const Step& step : method_.steps_) {
    const uint32_t at = index++;
    const std::span<EValue* const> arguments(step.arguments, step.num_arguments);
    if (step.kind != TraceRecord::Kind::kDelegateCall ||
        !std::ranges::all_of(arguments,
                             [](const EValue* value) { return has_fixed_size(*value); })) {
      continue;
    }
    VITRINE_RETURN_IF_ERROR(step.delegate->plan_memory(), "%s, step %u (%s)", plan_.name()->c_str(),
                            at, step.name);
  }
  return Error();
}

// Finds the first instruction that calls each delegate. The trace assigns events about loading a
// delegate to this instruction.
Error MethodLoader::find_first_calls(std::span<BackendInitContext> contexts) {
  const std::span<bool> found = arena_.allocate_array<bool>(contexts.size());
  if (found.size() != contexts.size()) return no_memory("delegates");
  for (uint32_t c = 0; c < plan_.chains()->size(); ++c) {
    const auto* instructions = plan_.chains()->Get(c)->instructions();
    for (uint32_t i = 0; i < size_of(instructions); ++i) {
      const auto* call = instructions->Get(i)->instr_args_as_DelegateCall();
      if (call == nullptr) continue;
      const auto delegate = static_cast<size_t>(call->delegate_index());
      BackendInitContext& context = contexts[delegate];
      context.has_fixed_sizes = context.has_fixed_sizes || !found[delegate];
      for (uint32_t k = 0; k < size_of(call->args()); ++k) {
        const auto value = static_cast<size_t>(call->args()->Get(k));
        context.has_fixed_sizes &= has_fixed_size(method_.values_[value]);
      }
      if (std::exchange(found[delegate], true)) continue;
      contexts[delegate].chain_index = static_cast<int32_t>(c);
      contexts[delegate].instruction_id = static_cast<int32_t>(i);
    }
  }
  return Error();
}

}  // namespace vitrine
