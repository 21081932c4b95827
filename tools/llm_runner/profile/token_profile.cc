#include "tools/llm_runner/profile/token_profile.h"

#include <fmt/format.h>

namespace vitrine::llm {

CostLine& CostLine::operator+=(const CostLine& other) {
  at_start += other.at_start;
  per_position += other.per_position;
  error += other.error;
  return *this;
}

Times& Times::operator+=(const Times& other) {
  for (size_t i = 0; i < kPhases; ++i) ns[i] += other.ns[i];
  usual_ns += other.usual_ns;
  if (other.line) (line ? *line : line.emplace()) += *other.line;
  return *this;
}

TokenCost& TokenCost::operator+=(const TokenCost& other) {
  for (size_t i = 0; i < kPhases; ++i) calls[i] += other.calls[i];
  times += other.times;
  weight_bytes += other.weight_bytes;
  cache_bytes += other.cache_bytes;
  return *this;
}

std::vector<std::pair<const char*, const Times*>> times_outside(const TokenProfile& profile) {
  std::vector<std::pair<const char*, const Times*>> all = {{"unattributed", &profile.unattributed}};
  for (size_t i = 0; i < kStepParts; ++i) {
    all.emplace_back(part_name(static_cast<StepPart>(i)), &profile.parts[i]);
  }
  return all;
}

const char* part_name(StepPart part) {
  constexpr const char* kNames[] = {"tokenizer: prompt", "between steps",   "inputs and logits",
                                    "sampling",          "tokenizer: text", "output"};
  return kNames[static_cast<size_t>(part)];
}

const char* phase_name(Phase phase) { return phase == Phase::kPrefill ? "prefill" : "decode"; }

std::string step_name(Phase phase, const StepWall& step) {
  return fmt::format("{} at {}", phase_name(phase), step.position);
}

std::string method_names(const TokenProfile& profile) {
  std::string names;
  for (const TokenMethod& method : profile.methods) {
    names += (names.empty() ? "" : " + ") + method.name;
  }
  return names;
}

double tokens_per_second(const TokenProfile& profile, Phase phase) {
  const auto which = static_cast<size_t>(phase);
  const double ns = profile.wall.ns[which];
  return ns > 0 ? static_cast<double>(profile.tokens[which]) * 1e9 / ns : 0;
}

}  // namespace vitrine::llm
