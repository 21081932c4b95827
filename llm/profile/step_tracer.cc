#include "llm/profile/step_tracer.h"

#include <algorithm>
#include <functional>
#include <string_view>

namespace vitrine::llm {
namespace {

constexpr std::string_view kExecuteBlock = "Execute";
constexpr std::string_view kExecuteScope = "Method::execute";
constexpr size_t kRoom = StepTracer::kRecordsAStep + 64;  // some for whole executions

bool is_execute(const TraceRecord& record) {
  return record.kind == TraceRecord::Kind::kScope && record.name != nullptr &&
         record.name == kExecuteScope;
}

uint64_t duration(const GenerationStep& step) { return step.end_ns - step.start_ns; }

}  // namespace

size_t StepTracer::KeyHash::operator()(const Key& key) const {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;
  const Identity& of = key.identity;
  const auto joined = [](int32_t a, int32_t b) {
    return uint64_t{static_cast<uint32_t>(a)} << 32 | static_cast<uint32_t>(b);
  };
  uint64_t hash = std::hash<const void*>()(of.name);
  for (const uint64_t part :
       {joined(of.chain_index, of.instruction_id),
        joined(static_cast<int32_t>(of.kind), of.delegate_debug_id), uint64_t{key.occurrence}}) {
    hash = (hash ^ part) * kOdd;
  }
  return hash ^ hash >> 32;
}

StepTracer::Identity StepTracer::identity_of(const TraceRecord& record) {
  return {record.name, record.chain_index, record.instruction_id, record.delegate_debug_id,
          record.kind};
}

void StepTracer::begin_block(const char* name) {
  if (std::string_view(name) == kExecuteBlock) is_loading_ = false;
}

// Steps mostly log the same records in the same order, hundreds a step.
void StepTracer::record(const TraceRecord& record) {
  if (next_ == end_ || count_ >= kRecordsAStep || *next_ != identity_of(record)) {
    record_unexpected(record);
    return;
  }
  ++next_;
  mark(place_++, record);
}

void StepTracer::mark(size_t place, const TraceRecord& record) {
  static_assert(kRoom <= size_t{1} << Mark::kPlaceBits);
  const uint64_t ns = record.end_ns - record.start_ns;
  if (is_execute(record)) executed_ns_ += ns;
  marks_[count_++] = {record.start_ns, ns << Mark::kPlaceBits | place};
}

void StepTracer::record_unexpected(const TraceRecord& record) {
  if (!is_in_step_) {
    if (is_loading_) loading_.push_back(record);
    return;
  }
  if (count_ >= (is_execute(record) ? kRoom : kRecordsAStep)) {
    if (is_execute(record)) executed_ns_ += record.end_ns - record.start_ns;
    ++dropped_;
    return;
  }
  const size_t place = find_place(record);
  mark(place, record);
  expect(place + 1);
}

void StepTracer::expect(size_t place) {
  const std::vector<Identity>& all = identities_[phase_];
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
    phase.sums[mark.place()].add(mark.ns(), position, is_usual);
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
  std::vector<Identity>& all = identities_[phase_];
  const Identity identity = identity_of(record);
  uint32_t occurrence = 0;
  if (record.kind == TraceRecord::Kind::kDelegateOperator) {
    for (size_t i = count_; i-- > 0;) {
      const Identity& before = all[marks_[i].place()];
      if (before.kind != record.kind || before.instruction_id != record.instruction_id) break;
      if (before == identity) ++occurrence;
    }
  }
  const auto [found, is_new] = indices_[phase_].try_emplace(Key{identity, occurrence}, all.size());
  if (is_new) {
    all.push_back(identity);
    phases_[phase_].records.push_back(record);
    phases_[phase_].sums.emplace_back();
  }
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
    TraceRecord& record = records.emplace_back(phases_[phase_].records[mark.place()]);
    record.start_ns = mark.start_ns;
    record.end_ns = mark.start_ns + mark.ns();
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
