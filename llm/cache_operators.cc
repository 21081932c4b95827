#include "llm/cache_operators.h"

#include "runtime/data/vector_size.h"
#include "runtime/program/program_access.h"

namespace vitrine {
namespace {

namespace fbs = schema::program;

std::optional<int64_t> positions_of(const fbs::ExecutionPlan& plan, const fbs::KernelCall& call,
                                    int argument) {
  if (argument < 0 || static_cast<uint32_t>(argument) >= size_of(call.args())) return std::nullopt;
  const int32_t value = call.args()->Get(static_cast<uint32_t>(argument));
  if (value < 0) return std::nullopt;
  const fbs::Tensor* cache = plan.values()->Get(static_cast<uint32_t>(value))->val_as_Tensor();
  if (cache == nullptr || size_of(cache->sizes()) != 4) return std::nullopt;
  return cache->sizes()->Get(1);
}

}  // namespace

std::optional<int64_t> cache_length(const MethodMeta& method) {
  const fbs::ExecutionPlan& plan = ProgramAccess::plan(method);
  std::optional<int64_t> least;
  for (uint32_t chain = 0; chain < size_of(plan.chains()); ++chain) {
    const auto* instructions = plan.chains()->Get(chain)->instructions();
    for (uint32_t i = 0; i < size_of(instructions); ++i) {
      const auto* call = instructions->Get(i)->instr_args_as_KernelCall();
      if (call == nullptr) continue;
      const auto* op = plan.operators()->Get(static_cast<uint32_t>(call->op_index()));
      const CacheOperator* known = cache_operator(op->name()->string_view());
      if (known == nullptr || !known->writes_at_position) continue;
      for (const int written : known->written) {
        const std::optional<int64_t> found = positions_of(plan, *call, written);
        if (found && (!least || *found < *least)) least = found;
      }
    }
  }
  return least;
}

}  // namespace vitrine
