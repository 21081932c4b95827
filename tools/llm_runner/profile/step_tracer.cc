#include "tools/llm_runner/profile/step_tracer.h"

#include <algorithm>
#include <functional>
#include <string_view>

namespace vitrine::llm {
namespace {

constexpr std::string_view kExecuteBlock = "Execute";
constexpr std::string_view kExecuteScope = "Method::execute";
constexpr size_t kNone = SIZE_MAX;
constexpr size_t kCapacity = StepTracer::kMaxRecordsPerStep + 64;  // 64 for Method::execute

bool is_execute(const TraceRecord& record) {
  return record.kind == TraceRecord::Kind::kScope && record.name != nullptr &&
         record.name == kExecuteScope;
}

uint64_t duration(const GenerationStep& step) { return step.end_ns - step.start_ns; }

}  // namespace

size_t StepTracer::GroupKeyHash::operator()(const GroupKey& key) const {
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

StepTracer::Identity StepTracer::identity_of(const TracedOperators& all) {
  return {all.operators.data(), all.chain_index, all.instruction_id, kUnsetDelegateDebugId,
          TraceRecord::Kind::kDelegateOperator};
}

void StepTracer::begin_block(const char* name) {
  if (std::string_view(name) == kExecuteBlock) is_loading_ = false;
}

// True if `count` records with this identity are the next expected group, and the step has room.
// Most steps log the same groups in the same order, so this check avoids most searches.
bool StepTracer::is_next(const Identity& identity, size_t count) const {
  return next_ != end_ && count_ + count <= kMaxRecordsPerStep && next_->count == count &&
         next_->identity == identity;
}

void StepTracer::record(const TraceRecord& record) {
  if (is_next(identity_of(record), 1)) {
    log_next(record.start_ns, {&record.end_ns, 1});
    if (is_execute(record)) executed_ns_ += record.end_ns - record.start_ns;
  } else {
    record_unexpected(record);
  }
}

void StepTracer::record_operators(const TracedOperators& all) {
  if (all.operators.empty()) return;
  if (!is_next(identity_of(all), all.operators.size())) {
    const bool has_room = count_ + all.operators.size() <= kMaxRecordsPerStep;
    const size_t group = is_in_step_ && has_room ? find_group(all) : kNone;
    if (group == kNone) return EventTracer::record_operators(all);
    expect(group);
  }
  log_next(all.start_ns, all.ends_ns);
}

void StepTracer::log_next(uint64_t start_ns, std::span<const uint64_t> ends_ns) {
  const auto group = static_cast<size_t>(next_++ - groups_[phase_].data());
  logged_[logged_count_++] = {start_ns, group};
  std::ranges::copy(ends_ns, ends_ns_.get() + count_);
  count_ += ends_ns.size();
}

void StepTracer::record_unexpected(const TraceRecord& record) {
  if (!is_in_step_) {
    if (is_loading_) loading_.push_back(record);
    return;
  }
  if (is_execute(record)) executed_ns_ += record.end_ns - record.start_ns;
  if (count_ >= (is_execute(record) ? kCapacity : kMaxRecordsPerStep)) {
    ++dropped_;
    return;
  }
  expect(find_group(record));
  log_next(record.start_ns, {&record.end_ns, 1});
}

void StepTracer::expect(size_t group) {
  const std::vector<RecordGroup>& all = groups_[phase_];
  next_ = all.data() + group;
  end_ = all.data() + all.size();
}

void StepTracer::begin_step(Phase phase) {
  if (!logged_) {
    logged_ = std::make_unique_for_overwrite<LoggedGroup[]>(kCapacity);
    ends_ns_ = std::make_unique_for_overwrite<uint64_t[]>(kCapacity);
  }
  logged_count_ = 0;
  count_ = 0;
  phase_ = static_cast<size_t>(phase);
  expect(0);
  executed_ns_ = 0;
  is_in_step_ = true;
}

void StepTracer::end_step(const GenerationStep& step, const StepPartTimes& parts, uint64_t position,
                          bool is_usual) {
  is_in_step_ = false;
  next_ = end_ = nullptr;
  PhaseSums& phase = phases_[phase_];
  for_each_record([&](size_t i, uint64_t start_ns, uint64_t end_ns) {
    phase.sums[i].add(end_ns - start_ns, position, is_usual, phase.steps);
  });
  keep(step, parts);
  ++phase.steps;
  phase.tokens += step.tokens;
  if (!is_usual) return;
  ++phase.usual_steps;
  phase.positions += position;
  phase.position_squares += position * position;
  phase.first_position = std::min(phase.first_position, position);
  phase.last_position = std::max(phase.last_position, position);
}

// Finds or adds the group with this key. Returns true if the group is new. The caller must then add
// the group's records.
bool StepTracer::add_group(const GroupKey& key, size_t count, size_t* group) {
  std::vector<RecordGroup>& all = groups_[phase_];
  const auto [found, is_new] = indices_[phase_].try_emplace(key, all.size());
  *group = found->second;
  if (!is_new) return false;
  PhaseSums& phase = phases_[phase_];
  all.push_back(
      {key.identity, static_cast<uint32_t>(phase.records.size()), static_cast<uint32_t>(count)});
  phase.sums.resize(phase.sums.size() + count);
  return true;
}

size_t StepTracer::find_group(const TraceRecord& record) {
  const std::vector<RecordGroup>& all = groups_[phase_];
  const Identity identity = identity_of(record);
  uint32_t occurrence = 0;
  if (record.kind == TraceRecord::Kind::kDelegateOperator) {
    for (size_t i = logged_count_; i-- > 0;) {
      const Identity& before = all[logged_[i].group].identity;
      if (before.kind != record.kind || before.instruction_id != record.instruction_id) break;
      if (before == identity) ++occurrence;
    }
  }
  size_t group = 0;
  if (add_group({identity, occurrence}, 1, &group)) phases_[phase_].records.push_back(record);
  return group;
}

// Finds or adds the group of a delegate call's operators. Returns kNone if the existing group has a
// different number of operators.
size_t StepTracer::find_group(const TracedOperators& all) {
  size_t group = 0;
  if (add_group({identity_of(all), 0}, all.operators.size(), &group)) {
    for (size_t i = 0; i < all.operators.size(); ++i) {
      phases_[phase_].records.push_back(all.record(i));
    }
  }
  return groups_[phase_][group].count == all.operators.size() ? group : kNone;
}

template <class Visit>
void StepTracer::for_each_record(const Visit& visit) const {
  const uint64_t* end_ns = ends_ns_.get();
  for (const LoggedGroup& logged : std::span(logged_.get(), logged_count_)) {
    const RecordGroup& group = groups_[phase_][logged.group];
    uint64_t start_ns = logged.start_ns;
    for (size_t i = group.first; i < size_t{group.first} + group.count; ++i) {
      visit(i, start_ns, *end_ns);
      start_ns = *end_ns++;
    }
  }
}

void StepTracer::keep(const GenerationStep& step, const StepPartTimes& parts) {
  const uint64_t index = phases_[phase_].steps;
  std::vector<KeptStep>& sampled = sampled_[phase_];
  uint64_t& stride = strides_[phase_];
  if (index % stride == 0) {
    if (sampled.size() == kMaxSampled) {
      stride *= 2;
      std::erase_if(sampled, [&](const KeptStep& kept) { return kept.index % stride != 0; });
    }
    if (index % stride == 0) sampled.push_back({step, parts, index, current_records()});
  }
  std::vector<KeptStep>& slowest = slowest_[phase_];
  if (slowest.size() < kMaxSlowest) {
    slowest.push_back({step, parts, index, current_records()});
    return;
  }
  const auto fastest = std::ranges::min_element(
      slowest, {}, [](const KeptStep& kept) { return duration(kept.step); });
  if (duration(step) > duration(fastest->step)) {
    *fastest = {step, parts, index, current_records()};
  }
}

std::vector<TraceRecord> StepTracer::current_records() const {
  std::vector<TraceRecord> records;
  records.reserve(count_);
  for_each_record([&](size_t i, uint64_t start_ns, uint64_t end_ns) {
    TraceRecord& record = records.emplace_back(phases_[phase_].records[i]);
    record.start_ns = start_ns;
    record.end_ns = end_ns;
  });
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
