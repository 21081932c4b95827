#pragma once

#include <vector>

#include "inspector/compare/comparison.h"
#include "vitrine/method.h"

namespace vitrine::tools {

// Measures how much `b` differs from the reference `a`. Elements are in logical order: dtypes and
// dim orders may differ. Both methods must have been executed.
inspector::OutputDifference compare_values(const EValue& a, const EValue& b);
std::vector<inspector::OutputDifference> compare_outputs(const Method& a, const Method& b);

}  // namespace vitrine::tools
