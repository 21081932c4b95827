#pragma once

#include <string>
#include <vector>

#include "inspector/compare/value_comparison.h"
#include "inspector/report/comparison_texts.h"

namespace vitrine::inspector {

// Returns the names of the op that computed a value. The names come from the rows in `value.op` or,
// without rows, from `value.node_op`.
ComparedTexts value_texts(const ComparedValue& value, const Profile& a, const Profile& b);
ComparedTexts value_texts(const UncomparedValue& value, const Profile& a, const Profile& b);

// Returns " [1]" for result 1 of an op, and an empty string for result 0.
std::string result_text(const ComparedValue& value);

// Returns the largest difference, the mean difference, the cosine and the SQNR as texts.
std::vector<std::string> value_figures(const TensorDifference& figures);

// Returns texts about the first value below the limit: "#2 relu r", "SQNR 12.0 dB" and the source
// lines of its op in the model. Empty if no value is below the limit.
std::vector<std::string> first_below(const ValueComparison& comparison, const Profile& a,
                                     const Profile& b);

}  // namespace vitrine::inspector
