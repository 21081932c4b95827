#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "inspector/join/trace_rows.h"

namespace vitrine::inspector {

struct OperatorMapChoice {
  const DelegateProfile* profile = nullptr;  // profile of the last operator map that was tried
  OperatorMap operator_map;
  std::string why_none;  // why the oldest operator map does not match; empty if a map was chosen
};

// Returns the newest of `maps` that matches the operators of a call. A map matches if it lists no
// more operators than ran, and if each listed operator logged the debug handle that the map gives
// for it. `maps` must not be empty. `identifiers` are the integers that the operators logged, in
// order.
OperatorMapChoice choose_operator_map(std::span<const OperatorMapText> maps,
                                      std::span<const int32_t> identifiers);

}  // namespace vitrine::inspector
