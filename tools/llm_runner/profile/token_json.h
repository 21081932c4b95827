// JSON values that the JSON report and the page of a token profile share.
#pragma once

#include <nlohmann/json.hpp>

#include <utility>

#include "inspector/report/grouping.h"
#include "tools/llm_runner/profile/token_profile.h"

namespace vitrine::llm {

using Json = nlohmann::ordered_json;

inline constexpr std::pair<const char*, inspector::GroupBy> kGroupings[] = {
    {"op", inspector::GroupBy::kOp},
    {"module", inspector::GroupBy::kModule},
    {"line", inspector::GroupBy::kLine},
    {"delegate", inspector::GroupBy::kDelegate}};

// Returns the JSON report without its rows.
Json token_json(const TokenProfile& profile);
Json times_json(const Times& times);
Json cost_json(const TokenCost& cost);

}  // namespace vitrine::llm
