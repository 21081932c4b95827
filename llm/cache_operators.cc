#include "llm/cache_operators.h"

#include "runtime/platform/vector_size.h"
#include "runtime/program/program_access.h"

namespace vitrine {
namespace {

namespace fbs = schema::program;

// Returns the number of positions in the cache at index `argument` of the call's arguments. Returns
// an empty optional if the argument is missing or does not have the shape of a cache.
std::optional<int64_t> num_positions(const fbs::ExecutionPlan& plan, const fbs::KernelCall& call,
                                     int argument) {
  if (argument < 0 || static_cast<uint32_t>(argument) >= size_of(call.args())) return std::nullopt;
  const int32_t value = call.args()->Get(static_cast<uint32_t>(argument));
  if (value < 0) return std::nullopt;
  const fbs::Tensor* cache = plan.values()->Get(static_cast<uint32_t>(value))->val_as_Tensor();
  if (cache == nullptr || size_of(cache->sizes()) != 4) return std::nullopt;
  return cache->sizes()->Get(1);
}

std::string_view name_of(const fbs::ExecutionPlan& plan, const fbs::KernelCall& call) {
  return plan.operators()->Get(static_cast<uint32_t>(call.op_index()))->name()->string_view();
}

void for_each_kernel_call(const fbs::ExecutionPlan& plan, auto visit) {
  for (uint32_t chain = 0; chain < size_of(plan.chains()); ++chain) {
    const auto* instructions = plan.chains()->Get(chain)->instructions();
    for (uint32_t i = 0; i < size_of(instructions); ++i) {
      const auto* call = instructions->Get(i)->instr_args_as_KernelCall();
      if (call != nullptr) visit(*call);
    }
  }
}

// True if the call writes a cache only at the positions that its arguments select.
bool writes_cache_by_position(const fbs::ExecutionPlan& plan, const fbs::KernelCall& call) {
  const CacheOperator* known = find_cache_operator(name_of(plan, call));
  return known != nullptr && !known->writes_all &&
         num_positions(plan, call, known->written_args[0]);
}

}  // namespace

bool keeps_other_state(const MethodMeta& method) {
  const fbs::ExecutionPlan& plan = ProgramAccess::plan(method);
  bool found = false;
  for_each_kernel_call(plan, [&](const fbs::KernelCall& call) {
    const bool is_in_place = name_of(plan, call).ends_with('_');
    found = found || (is_in_place && !writes_cache_by_position(plan, call));
  });
  return found;
}

std::optional<int64_t> cache_length(const MethodMeta& method) {
  const fbs::ExecutionPlan& plan = ProgramAccess::plan(method);
  std::optional<int64_t> shortest;
  for_each_kernel_call(plan, [&](const fbs::KernelCall& call) {
    const CacheOperator* known = find_cache_operator(name_of(plan, call));
    if (known == nullptr || !known->writes_at_position) return;
    for (const int argument : known->written_args) {
      const std::optional<int64_t> found = num_positions(plan, call, argument);
      if (found && (!shortest || *found < *shortest)) shortest = found;
    }
  });
  return shortest;
}

}  // namespace vitrine
