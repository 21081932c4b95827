#include "tools/common/program_delegates.h"

#include <map>
#include <string>
#include <vector>

#include "backends/xnnpack/runtime/reader/identifiers.h"
#include "base/format_error.h"
#include "formats/delegates/delegate_reader.h"
#include "runtime/platform/vector_size.h"
#include "runtime/program/program_access.h"
#include "tools/common/delegate_lines.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

namespace fbs = schema::program;

// Returns the payload's operators. The list is empty if the payload is damaged or does not have
// exactly one graph.
std::vector<std::string> operators_of(const Program& program,
                                      const fbs::BackendDelegate& delegate) {
  std::vector<std::string> names;
  try {
    const DataBuffer bytes = check(ProgramAccess::payload(program, *delegate.processed()));
    delegates::PayloadInput input = payload_input(delegate, bytes.bytes());
    input.data = &program.named_data();
    const delegates::PayloadDescription payload = delegates::describe_payload(input);
    if (payload.graphs.size() != 1) return {};
    for (const delegates::PayloadOperator& op : payload.graphs[0].operators) {
      names.push_back(op.name);
    }
  } catch (const FormatError&) {
    return {};  // pte_inspect --verify reports the damage
  }
  return names;
}

}  // namespace

inspector::ProgramDelegates program_delegates(const Program& program, std::string_view method) {
  inspector::ProgramDelegates result;
  for (const fbs::ExecutionPlan* plan : *ProgramAccess::root(program).execution_plan()) {
    if (plan->name()->string_view() != method || size_of(plan->chains()) == 0) continue;
    std::map<uint32_t, inspector::ProgramDelegate> known;  // calls may share a delegate
    const auto* instructions = plan->chains()->Get(0)->instructions();
    for (uint32_t i = 0; i < size_of(instructions); ++i) {
      const auto* call = instructions->Get(i)->instr_args_as_DelegateCall();
      if (call == nullptr) continue;
      const auto index = static_cast<uint32_t>(call->delegate_index());
      const auto [entry, is_new] = known.try_emplace(index);
      if (is_new) {
        const fbs::BackendDelegate& delegate = *plan->delegates()->Get(index);
        entry->second.backend = delegate.id()->str();
        if (entry->second.backend != xnnpack::kBackendId) {
          entry->second.operators = operators_of(program, delegate);
        }
      }
      result.emplace(static_cast<int32_t>(i), entry->second);
    }
  }
  return result;
}

}  // namespace vitrine::tools
