#include "inspector/join/trace_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <list>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "formats/etdump/extensions.h"
#include "inspector/join/profile.h"

namespace vitrine::inspector {
namespace {

using etdump::ProfileEvent;

constexpr std::string_view kExecuteScope = "Method::execute";
constexpr std::string_view kInitScope = "Method::init";
constexpr std::string_view kExecuteBlock = "Execute";
constexpr std::string_view kDelegateCall = "DELEGATE_CALL";
constexpr std::string_view kOperatorCall = "OPERATOR_CALL";
constexpr std::string_view kNativeCall = "native_call_";

struct ControlEvent {
  std::string_view event, name;
};
constexpr ControlEvent kControlEvents[] = {
    {"MOVE_CALL", "move"}, {"JF_CALL", "jump_false"}, {"FREE_CALL", "free"}};

// A counter of 32 bits may have wrapped around in dumps of other platforms.
double elapsed(const ProfileEvent& event) {
  constexpr uint64_t kMax32 = UINT32_MAX;
  if (event.start <= event.end) return static_cast<double>(event.end - event.start);
  if (event.start > kMax32) {
    throw InspectorError(
        fmt::format("event \"{}\" of instruction {} ends at {}, before its start {}",
                    event.is_delegate_event() ? event.delegate_debug_name : event.name,
                    event.instruction_id, event.end, event.start));
  }
  return static_cast<double>(kMax32 - event.start + event.end);
}

uint64_t count_in(std::string_view text) {
  uint64_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

// Runs share rows through this key; the last number tells apart operators of one identifier.
using RowKey = std::tuple<int32_t, int32_t, TraceRow::Kind, int32_t, std::string_view, size_t>;

class Merger {
 public:
  explicit Merger(DelegateProfiles delegates) : delegates_(delegates) {}

  MergedTrace merge(const etdump::EtDump& dump) {
    for (const etdump::Block& block : dump.blocks) add_block(block);
    finish();
    return std::move(trace_);
  }

 private:
  void add_block(const etdump::Block& block) {
    const ProfileEvent* wall = nullptr;
    bool has_lost = false;
    bool is_warm_up = false;
    for (const ProfileEvent& event : block.profile_events) {
      if (event.is_in_instruction()) {
        if (const DelegateProfile* profile = plan_profile(event)) {
          trace_.plans[event.instruction_id].push_back({profile, event.metadata});
        }
      } else if (event.name == kExecuteScope) {
        wall = &event;
      } else if (event.name == etdump::kWarmUp) {
        is_warm_up = true;
      } else if (event.name == etdump::kDroppedRecords) {
        trace_.dropped_records += count_in(event.metadata);
        has_lost = true;
      } else if (event.name == etdump::kDroppedBlocks) {
        trace_.dropped_blocks += count_in(event.metadata);
      } else {
        const double ns = elapsed(event);
        if (event.name == kInitScope) trace_.init_ns = ns;
        trace_.scopes.push_back({.block = std::string(block.name),
                                 .name = std::string(event.name),
                                 .start = event.start,
                                 .ns = ns});
      }
    }
    if (wall != nullptr && !has_lost) {
      if (is_warm_up && trace_.cold_runs == trace_.wall_ns.size()) ++trace_.cold_runs;
      add_run(block, *wall);
    } else if (wall != nullptr || block.name == kExecuteBlock) {
      ++trace_.incomplete_runs;
    }
  }

  const DelegateProfile* plan_profile(const ProfileEvent& event) const {
    return profile_of_plan_event(delegates_, event.delegate_debug_name);
  }

  void add_run(const etdump::Block& block, const ProfileEvent& wall) {
    run_ = static_cast<uint32_t>(trace_.wall_ns.size());
    trace_.wall_ns.push_back(elapsed(wall));
    note(TimelineEvent::Kind::kRun, 0, wall);
    last_ = rows_.end();
    sequence_.clear();
    operators_.clear();
    const ProfileEvent* native_call = nullptr;
    for (const ProfileEvent& event : block.profile_events) {
      if (!event.is_in_instruction() || plan_profile(event) != nullptr) continue;
      if (event.is_delegate_event()) {
        operators_.push_back(&event);
      } else if (event.name == kDelegateCall) {
        add_call(event);
      } else if (event.name == kOperatorCall) {
        add_kernel(event, native_call);
        native_call = nullptr;
      } else if (event.name.starts_with(kNativeCall)) {
        // Lies within its OPERATOR_CALL, which follows and counts for both.
        native_call = &event;
      } else {
        add_control(event);
      }
    }
    add_operators();  // of a call that the dump does not close
    if (run_ == 0) {
      first_sequence_ = sequence_;
    } else if (sequence_ != first_sequence_) {
      trace_.runs_differ = true;
    }
  }

  void add_call(const ProfileEvent& event) {
    TraceCall& call = trace_.calls[event.instruction_id];
    if (!event.metadata.empty()) call.delegate = event.metadata;
    call.times.add(run_, elapsed(event));
    note(TimelineEvent::Kind::kDelegateCall, static_cast<uint32_t>(event.instruction_id), event);
    if (operators_.empty()) {
      add(event, TraceRow::Kind::kDelegateCall, 0);
    } else {
      add_operators();
    }
  }

  void add_operators() {
    std::map<std::pair<int32_t, std::string_view>, size_t> seen;
    for (const ProfileEvent* op : operators_) {
      const size_t occurrence = seen[{op->delegate_debug_id, op->delegate_debug_name}]++;
      TraceRow& row = add(*op, TraceRow::Kind::kDelegateOperator, occurrence);
      if (row.kernel.empty()) row.kernel = op->metadata;
    }
    operators_.clear();
  }

  void add_kernel(const ProfileEvent& event, const ProfileEvent* native_call) {
    TraceRow& row = add(event, TraceRow::Kind::kKernel, 0);
    const size_t space = event.metadata.find(' ');
    if (!event.metadata.empty()) {  // our own dumps: "aten::add.out portable"
      row.kernel = event.metadata.substr(0, space);
      if (space != std::string_view::npos) row.library = event.metadata.substr(space + 1);
    } else if (native_call != nullptr && native_call->instruction_id == event.instruction_id) {
      row.kernel = native_call->name.substr(kNativeCall.size());
      row.inner_times.add(run_, elapsed(*native_call));
    }
  }

  void note(TimelineEvent::Kind kind, uint32_t index, const ProfileEvent& event) {
    const auto ns = static_cast<uint64_t>(elapsed(event));  // an end that wrapped is put right
    trace_.events.push_back(
        {.kind = kind, .run = run_, .index = index, .start = event.start, .end = event.start + ns});
  }

  void add_control(const ProfileEvent& event) {
    for (const ControlEvent& control : kControlEvents) {
      if (control.event == event.name) {
        add(event, TraceRow::Kind::kControl, 0).kernel = control.name;
      }
    }
  }

  TraceRow& add(const ProfileEvent& event, TraceRow::Kind kind, size_t occurrence) {
    const RowKey key{event.chain_index,       event.instruction_id,      kind,
                     event.delegate_debug_id, event.delegate_debug_name, occurrence};
    auto [entry, is_new] = row_of_key_.try_emplace(key);
    if (is_new) {
      // Where this run had it: after the row before.
      const auto place = last_ == rows_.end() ? rows_.begin() : std::next(last_);
      entry->second = rows_.insert(place, TraceRow{.kind = kind,
                                                   .instruction = event.instruction_id,
                                                   .delegate_id = event.delegate_debug_id,
                                                   .delegate_name = event.delegate_debug_name,
                                                   .kernel = {},
                                                   .library = {},
                                                   .times = {},
                                                   .inner_times = {}});
      number_of_row_.emplace(&*entry->second, static_cast<uint32_t>(number_of_row_.size()));
    }
    last_ = entry->second;
    sequence_.push_back(&*last_);
    last_->times.add(run_, elapsed(event));
    note(TimelineEvent::Kind::kRow, number_of_row_.at(&*last_), event);
    return *last_;
  }

  void finish() {
    std::vector<uint32_t> place_of(rows_.size());  // by number, which is by first appearance
    for (TraceRow& row : rows_) {
      place_of[number_of_row_.at(&row)] = static_cast<uint32_t>(trace_.rows.size());
      if (row.kind == TraceRow::Kind::kDelegateOperator ||
          row.kind == TraceRow::Kind::kDelegateCall) {
        trace_.calls[row.instruction].rows.push_back(trace_.rows.size());
      }
      trace_.rows.push_back(std::move(row));
    }
    for (TimelineEvent& event : trace_.events) {
      if (event.kind == TimelineEvent::Kind::kRow) event.index = place_of[event.index];
    }
  }

  DelegateProfiles delegates_;
  MergedTrace trace_;
  std::list<TraceRow> rows_;
  std::map<RowKey, std::list<TraceRow>::iterator> row_of_key_;
  std::unordered_map<const TraceRow*, uint32_t> number_of_row_;
  // State of the run being added.
  uint32_t run_ = 0;
  std::list<TraceRow>::iterator last_;
  std::vector<const ProfileEvent*> operators_;  // logged, their call not yet closed
  std::vector<const TraceRow*> sequence_;
  std::vector<const TraceRow*> first_sequence_;
};

}  // namespace

void RunTimes::add(size_t run, double ns) {
  if (samples_.empty() || samples_.back().run != run) {
    samples_.push_back({static_cast<uint32_t>(run), 0});
    calls_.push_back(0);
  }
  samples_.back().ns += ns;
  ++calls_.back();
}

void RunTimes::subtract_from(std::vector<double>& ns_of_run) const {
  for (const RunSample& sample : samples_) ns_of_run[sample.run] -= sample.ns;
}

size_t RunTimes::calls_from(size_t first_run) const {
  size_t calls = 0;
  for (size_t i = 0; i < samples_.size(); ++i) {
    if (samples_[i].run >= first_run) calls += calls_[i];
  }
  return calls;
}

MergedTrace merge_runs(const etdump::EtDump& dump, DelegateProfiles delegates) {
  return Merger(delegates).merge(dump);
}

}  // namespace vitrine::inspector
