#include "inspector/join/operator_map_choice.h"

#include <fmt/format.h>

#include "inspector/join/profile.h"

namespace vitrine::inspector {
namespace {

std::string mismatch_of(const OperatorMap& map, std::span<const int32_t> identifiers) {
  if (map.num_operators > identifiers.size()) {
    return fmt::format("the map lists {} operators, but {} ran", map.num_operators,
                       identifiers.size());
  }
  for (const OperatorMap::Node& node : map.nodes) {
    if (node.role != OperatorMap::Role::kOperator) continue;
    const int64_t id = identifiers[node.op];
    if (id != int64_t{node.debug_handle}) {
      return fmt::format("operator {} has debug handle {} in the map, but logged {}", node.op,
                         node.debug_handle, id);
    }
  }
  return "";
}

}  // namespace

OperatorMapChoice choose_operator_map(std::span<const OperatorMapText> maps,
                                      std::span<const int32_t> identifiers) {
  OperatorMapChoice choice;
  for (auto map = maps.rbegin(); map != maps.rend(); ++map) {
    choice.profile = map->profile;
    try {
      choice.operator_map = map->profile->parse_operator_map(map->text);
      choice.why_none = mismatch_of(choice.operator_map, identifiers);
      if (choice.why_none.empty()) return choice;
    } catch (const InspectorError& error) {
      choice.why_none = error.what();
    }
  }
  return choice;
}

}  // namespace vitrine::inspector
