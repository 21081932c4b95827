#include "llm/profile/step_tracer.h"

#include <algorithm>
#include <functional>
#include <string_view>

namespace vitrine::llm {
namespace {

constexpr std::string_view kExecuteBlock = "Execute";
constexpr std::string_view kExecuteScope = "Method::execute";

bool is_same(const TraceRecord& a, const TraceRecord& b) {
  return a.kind == b.kind && a.instruction_id == b.instruction_id && a.name == b.name &&
         a.delegate_debug_id == b.delegate_debug_id && a.chain_index == b.chain_index;
}

uint64_t duration(const GenerationStep& step) { return step.end_ns - step.start_ns; }

}  // namespace

size_t StepTracer::KeyHash::operator()(const Key& key) const {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;
  uint64_t hash = std::hash<const void*>()(key.name);
  for (const uint64_t part : {key.place, key.identity, uint64_t{key.occurrence}}) {
    hash = (hash ^ part) * kOdd;
  }
  return hash ^ hash >> 32;
}

void StepTracer::begin_block(const char* name) {
  if (std::string_view(name) == kExecuteBlock) is_loading_ = false;
}

void StepTracer::record(const TraceRecord& record) {
  if (!is_in_step_) {
    if (is_loading_) loading_.push_back(record);
    return;
  }
  const bool is_whole = record.kind == TraceRecord::Kind::kScope && record.name != nullptr &&
                        record.name == kExecuteScope;
  if (is_whole) executed_ns_ += record.end_ns - record.start_ns;
  if (current_.size() >= kRecordsAStep && !is_whole) {
    ++dropped_;
    return;
  }
  current_.push_back(record);
}

void StepTracer::begin_step() {
  current_.clear();
  executed_ns_ = 0;
  is_in_step_ = true;
}

void StepTracer::end_step(const GenerationStep& step, uint64_t position, bool is_usual) {
  is_in_step_ = false;
  const auto which = static_cast<size_t>(step.is_prefill ? Phase::kPrefill : Phase::kDecode);
  PhaseSums& phase = phases_[which];
  size_t cursor = 0;
  for (size_t i = 0; i < current_.size(); ++i) {
    const TraceRecord& record = current_[i];
    sums_of(i, phase, indices_[which], cursor)
        .sums.add(record.end_ns - record.start_ns, position, is_usual);
  }
  keep(step, which);
  ++phase.steps;
  phase.tokens += step.tokens;
  if (!is_usual) return;
  ++phase.usual_steps;
  phase.positions += position;
  phase.position_squares += position * position;
}

// Steps mostly log the same records in the same order: the next one is at the cursor.
RecordSums& StepTracer::sums_of(size_t position, PhaseSums& phase, Index& index, size_t& cursor) {
  const TraceRecord& record = current_[position];
  std::vector<RecordSums>& all = phase.records;
  if (cursor < all.size() && is_same(all[cursor].record, record)) return all[cursor++];
  uint32_t occurrence = 0;
  if (record.kind == TraceRecord::Kind::kDelegateOperator) {
    for (size_t i = position; i-- > 0 && current_[i].kind == record.kind &&
                              current_[i].instruction_id == record.instruction_id;) {
      if (is_same(current_[i], record)) ++occurrence;
    }
  }
  const Key key = {record.name,
                   uint64_t{static_cast<uint32_t>(record.chain_index)} << 32 |
                       static_cast<uint32_t>(record.instruction_id),
                   uint64_t{static_cast<uint32_t>(record.kind)} << 32 |
                       static_cast<uint32_t>(record.delegate_debug_id),
                   occurrence};
  const auto [found, is_new] = index.try_emplace(key, all.size());
  if (is_new) all.push_back({record, occurrence, {}});
  cursor = found->second + 1;
  return all[found->second];
}

void StepTracer::keep(const GenerationStep& step, size_t phase) {
  const uint64_t number = phases_[phase].steps;
  std::vector<KeptStep>& sampled = sampled_[phase];
  if (number % strides_[phase] == 0) {
    if (sampled.size() == kSampled) {
      strides_[phase] *= 2;
      std::erase_if(sampled,
                    [&](const KeptStep& kept) { return kept.number % strides_[phase] != 0; });
    }
    if (number % strides_[phase] == 0) sampled.push_back({step, number, current_});
  }
  std::vector<KeptStep>& slowest = slowest_[phase];
  if (slowest.size() < kSlowest) {
    slowest.push_back({step, number, current_});
    return;
  }
  const auto least = std::ranges::min_element(
      slowest, {}, [](const KeptStep& kept) { return duration(kept.step); });
  if (duration(step) > duration(least->step)) *least = {step, number, current_};
}

std::vector<const KeptStep*> StepTracer::kept() const {
  std::vector<const KeptStep*> all;
  for (const auto* lists : {&sampled_, &slowest_}) {
    for (const std::vector<KeptStep>& list : *lists) {
      for (const KeptStep& kept : list) all.push_back(&kept);
    }
  }
  const auto start = [](const KeptStep* kept) { return kept->step.start_ns; };
  std::ranges::stable_sort(all, {}, start);
  const auto same_start = [&](const KeptStep* a, const KeptStep* b) {
    return start(a) == start(b);
  };
  all.erase(std::unique(all.begin(), all.end(), same_start), all.end());
  return all;
}

}  // namespace vitrine::llm
