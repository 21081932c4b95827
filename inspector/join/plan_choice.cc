#include "inspector/join/plan_choice.h"

#include <fmt/format.h>

#include "inspector/join/profile.h"

namespace vitrine::inspector {
namespace {

std::string misfit(const DelegatePlan& plan, std::span<const int32_t> identifiers) {
  if (plan.num_operators > identifiers.size()) {
    return fmt::format("it lists {} operators, but {} ran", plan.num_operators, identifiers.size());
  }
  for (const DelegatePlan::Node& node : plan.nodes) {
    if (node.place != DelegatePlan::Place::kOperator) continue;
    const int64_t id = identifiers[node.op];
    if (id != int64_t{node.debug_handle}) {
      return fmt::format("operator {} has debug handle {} there and {} in the run", node.op,
                         node.debug_handle, id);
    }
  }
  return "";
}

}  // namespace

PlanChoice choose_plan(std::span<const PlanText> plans, std::span<const int32_t> identifiers) {
  PlanChoice choice;
  for (auto each = plans.rbegin(); each != plans.rend(); ++each) {
    choice.profile = each->profile;
    try {
      choice.plan = each->profile->parse_plan(each->text);
      choice.why_none = misfit(choice.plan, identifiers);
      if (choice.why_none.empty()) return choice;
    } catch (const InspectorError& error) {
      choice.why_none = error.what();
    }
  }
  return choice;
}

}  // namespace vitrine::inspector
