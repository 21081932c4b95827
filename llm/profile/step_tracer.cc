#include "llm/profile/step_tracer.h"

#include <algorithm>
#include <functional>
#include <string_view>

namespace vitrine::llm {
namespace {

constexpr std::string_view kExecuteBlock = "Execute";
constexpr std::string_view kExecuteScope = "Method::execute";
constexpr size_t kRoom = StepTracer::kRecordsAStep + 64;  // some for whole executions

bool is_same(const TraceRecord& a, const TraceRecord& b) {
  return a.kind == b.kind && a.instruction_id == b.instruction_id && a.name == b.name &&
         a.delegate_debug_id == b.delegate_debug_id && a.chain_index == b.chain_index;
}

bool is_execute(const TraceRecord& record) {
  return record.kind == TraceRecord::Kind::kScope && record.name != nullptr &&
         record.name == kExecuteScope;
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

// Steps mostly log the same records in the same order, hundreds a step.
void StepTracer::record(const TraceRecord& record) {
  if (next_ == end_ || count_ >= kRecordsAStep || !is_same(next_->record, record)) {
    record_unexpected(record);
    return;
  }
  if (next_->is_execute) executed_ns_ += record.end_ns - record.start_ns;
  ++next_;
  marks_[count_++] = {place_++, record.start_ns, record.end_ns};
}

void StepTracer::record_unexpected(const TraceRecord& record) {
  if (!is_in_step_) {
    if (is_loading_) loading_.push_back(record);
    return;
  }
  if (is_execute(record)) executed_ns_ += record.end_ns - record.start_ns;
  if (count_ >= (is_execute(record) ? kRoom : kRecordsAStep)) {
    ++dropped_;
    return;
  }
  const size_t place = find_place(record);
  marks_[count_++] = {place, record.start_ns, record.end_ns};
  expect(place + 1);
}

void StepTracer::expect(size_t place) {
  const std::vector<RecordSums>& all = phases_[phase_].records;
  place_ = place;
  next_ = all.data() + place;
  end_ = all.data() + all.size();
}

void StepTracer::begin_step(Phase phase) {
  if (!marks_) marks_ = std::make_unique_for_overwrite<Mark[]>(kRoom);
  count_ = 0;
  phase_ = static_cast<size_t>(phase);
  expect(0);
  executed_ns_ = 0;
  is_in_step_ = true;
}

void StepTracer::end_step(const GenerationStep& step, const PartTimes& parts, uint64_t position,
                          bool is_usual) {
  is_in_step_ = false;
  next_ = end_ = nullptr;
  PhaseSums& phase = phases_[phase_];
  for (const Mark& mark : marks()) {
    phase.records[mark.place].sums.add(mark.end_ns - mark.start_ns, position, is_usual);
  }
  keep(step, parts);
  ++phase.steps;
  phase.tokens += step.tokens;
  if (!is_usual) return;
  ++phase.usual_steps;
  phase.positions += position;
  phase.position_squares += position * position;
}

// Of a record that is not the one that should come next.
size_t StepTracer::find_place(const TraceRecord& record) {
  std::vector<RecordSums>& all = phases_[phase_].records;
  uint32_t occurrence = 0;
  if (record.kind == TraceRecord::Kind::kDelegateOperator) {
    for (size_t i = count_; i-- > 0;) {
      const TraceRecord& before = all[marks_[i].place].record;
      if (before.kind != record.kind || before.instruction_id != record.instruction_id) break;
      if (is_same(before, record)) ++occurrence;
    }
  }
  const Key key = {record.name,
                   uint64_t{static_cast<uint32_t>(record.chain_index)} << 32 |
                       static_cast<uint32_t>(record.instruction_id),
                   uint64_t{static_cast<uint32_t>(record.kind)} << 32 |
                       static_cast<uint32_t>(record.delegate_debug_id),
                   occurrence};
  const auto [found, is_new] = indices_[phase_].try_emplace(key, all.size());
  if (is_new) all.push_back({record, is_execute(record), occurrence, {}});
  return found->second;
}

void StepTracer::keep(const GenerationStep& step, const PartTimes& parts) {
  const uint64_t number = phases_[phase_].steps;
  std::vector<KeptStep>& sampled = sampled_[phase_];
  uint64_t& stride = strides_[phase_];
  if (number % stride == 0) {
    if (sampled.size() == kSampled) {
      stride *= 2;
      std::erase_if(sampled, [&](const KeptStep& kept) { return kept.number % stride != 0; });
    }
    if (number % stride == 0) sampled.push_back({step, parts, number, current_records()});
  }
  std::vector<KeptStep>& slowest = slowest_[phase_];
  if (slowest.size() < kSlowest) {
    slowest.push_back({step, parts, number, current_records()});
    return;
  }
  const auto least = std::ranges::min_element(
      slowest, {}, [](const KeptStep& kept) { return duration(kept.step); });
  if (duration(step) > duration(least->step)) {
    *least = {step, parts, number, current_records()};
  }
}

std::vector<TraceRecord> StepTracer::current_records() const {
  std::vector<TraceRecord> records;
  records.reserve(count_);
  for (const Mark& mark : marks()) {
    TraceRecord& record = records.emplace_back(phases_[phase_].records[mark.place].record);
    record.start_ns = mark.start_ns;
    record.end_ns = mark.end_ns;
  }
  return records;
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
