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
constexpr std::string_view kExecuteBlock = "Execute";
constexpr std::string_view kDelegateCall = "DELEGATE_CALL";
constexpr std::string_view kOperatorCall = "OPERATOR_CALL";
constexpr std::string_view kNativeCall = "native_call_";

struct ControlEvent {
  std::string_view event, name;
};
constexpr ControlEvent kControlEvents[] = {
    {"MOVE_CALL", "move"}, {"JF_CALL", "jump_false"}, {"FREE_CALL", "free"}};

// Returns the duration of an event in ticks. If a 32-bit counter wrapped around during the event,
// the duration is the difference modulo 2^32. ExecuTorch's Inspector then reports one tick less,
// because it adds 2^32 - 1.
double elapsed(const ProfileEvent& event) {
  constexpr uint64_t kWrap = uint64_t{1} << 32;
  if (event.start <= event.end) return static_cast<double>(event.end - event.start);
  if (event.start >= kWrap) {
    throw InspectorError(
        fmt::format("event \"{}\" of instruction {} ends at {}, before its start {}",
                    event.is_delegate_event() ? event.delegate_debug_name : event.name,
                    event.instruction_id, event.end, event.start));
  }
  return static_cast<double>(kWrap - event.start + event.end);
}

uint64_t count_in(std::string_view text) {
  uint64_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

InstructionId instruction_of(const ProfileEvent& event) {
  return {.chain = event.chain_index, .index = event.instruction_id};
}

// Identifies a row in all runs. The last member counts the earlier operators with the same
// identifier in the same call.
using RowKey = std::tuple<InstructionId, TraceRow::Kind, int32_t, std::string_view,
                          const DeviceQueue*, size_t>;

class Merger {
 public:
  Merger(DelegateProfiles delegates, const ProgramDelegates& program)
      : delegates_(delegates), program_(program) {}

  MergedTrace merge(const etdump::EtDump& dump) {
    for (const etdump::Block& block : dump.blocks) add_block(block);
    finish();
    return std::move(trace_);
  }

 private:
  void add_block(const etdump::Block& block) {
    const ProfileEvent* wall = nullptr;
    bool has_dropped_records = false;
    bool is_warm_up = false;
    for (const ProfileEvent& event : block.profile_events) {
      if (event.is_in_instruction()) {
        if (const DelegateProfile* profile = operator_map_profile(event)) {
          trace_.operator_maps[instruction_of(event)].push_back({profile, event.metadata});
        }
      } else if (event.name == kExecuteScope) {
        wall = &event;
      } else if (event.name == etdump::kWarmUp) {
        is_warm_up = true;
      } else if (event.name == etdump::kDroppedRecords) {
        trace_.dropped_records += count_in(event.metadata);
        has_dropped_records = true;
      } else if (event.name == etdump::kDroppedBlocks) {
        trace_.dropped_blocks += count_in(event.metadata);
      } else {
        trace_.scopes.push_back({.block = std::string(block.name),
                                 .name = std::string(event.name),
                                 .start = event.start,
                                 .ns = elapsed(event)});
      }
    }
    if (wall != nullptr && !has_dropped_records) {
      if (is_warm_up && trace_.cold_runs == trace_.wall_ns.size()) ++trace_.cold_runs;
      add_run(block, *wall);
    } else if (wall != nullptr || block.name == kExecuteBlock) {
      ++trace_.incomplete_runs;
    }
  }

  const DelegateProfile* operator_map_profile(const ProfileEvent& event) const {
    return profile_of_operator_map_event(delegates_, event.delegate_debug_name);
  }

  void add_run(const etdump::Block& block, const ProfileEvent& wall) {
    run_ = static_cast<uint32_t>(trace_.wall_ns.size());
    trace_.wall_ns.push_back(elapsed(wall));
    note(TimelineEvent::Kind::kRun, 0, wall, elapsed(wall));
    last_ = rows_.end();
    sequence_.clear();
    operators_.clear();
    const ProfileEvent* native_call = nullptr;
    for (const ProfileEvent& event : block.profile_events) {
      if (!event.is_in_instruction() || operator_map_profile(event) != nullptr) continue;
      if (event.is_delegate_event()) {
        operators_.push_back(&event);
      } else if (event.name == kDelegateCall) {
        add_call(event);
      } else if (event.name == kOperatorCall) {
        add_kernel(event, native_call);
        native_call = nullptr;
      } else if (event.name.starts_with(kNativeCall)) {
        // A native call is part of the OPERATOR_CALL that is logged after it. The time of the
        // OPERATOR_CALL includes the native call.
        native_call = &event;
      } else if (!add_control(event) && recognizing_profile(delegates_, event) != nullptr) {
        operators_.push_back(&event);  // some delegates log events without an identifier
      }
    }
    if (!operators_.empty()) {  // operators of a call whose event is missing
      add_operators(trace_.calls[instruction_of(*operators_.front())]);
    }
    if (run_ == 0) {
      first_sequence_ = sequence_;
    } else if (sequence_ != first_sequence_) {
      trace_.runs_differ = true;
    }
  }

  void add_call(const ProfileEvent& event) {
    const InstructionId instruction = instruction_of(event);
    TraceCall& call = trace_.calls[instruction];
    if (!event.metadata.empty()) call.delegate = event.metadata;
    call.times.add(run_, elapsed(event));
    const auto number = static_cast<uint32_t>(number_of_call_.size());
    note(TimelineEvent::Kind::kDelegateCall,
         number_of_call_.try_emplace(instruction, number).first->second, event, elapsed(event));
    if (call.profile == nullptr) call.profile = profile_of(instruction, call.delegate);
    if (call.profile != nullptr && call.delegate.empty()) {
      call.delegate = call.profile->backend_id();
    }
    // The call itself becomes a row if the CPU's clock measured no event inside the call.
    if (!add_operators(call)) add(event, TraceRow::Kind::kDelegateCall, 0, {});
  }

  const DelegateProfile* profile_of(InstructionId instruction, std::string_view backend) const {
    if (backend.empty() && instruction.chain == 0) {
      const auto known = program_.find(instruction.index);
      if (known != program_.end()) backend = known->second.backend;
    }
    if (!backend.empty()) return find_profile(delegates_, backend);
    for (const ProfileEvent* event : operators_) {
      const DelegateProfile* profile = recognizing_profile(delegates_, *event);
      if (profile != nullptr) return profile;
    }
    return nullptr;
  }

  // Adds the events since the previous delegate call. Returns true if the CPU's clock measured at
  // least one of them.
  bool add_operators(const TraceCall& call) {
    std::map<std::tuple<int32_t, std::string_view, const DeviceQueue*>, size_t> seen;
    bool has_cpu_row = false;
    for (const ProfileEvent* op : operators_) {
      using Kind = EventMeaning::Kind;
      EventMeaning meaning =
          call.profile == nullptr ? EventMeaning{} : call.profile->interpret(*op);
      if (meaning.kind == Kind::kOverlapping) continue;
      if (meaning.kind == Kind::kFigure) {
        trace_.figures[{instruction_of(*op), std::move(meaning.phase)}] = elapsed_or_zero(*op);
        continue;
      }
      const std::string_view name =
          meaning.identifier.empty() ? op->delegate_debug_name : keep(meaning.identifier);
      const size_t occurrence = seen[{op->delegate_debug_id, name, meaning.queue}]++;
      TraceRow& row = add(*op, TraceRow::Kind::kDelegateOperator, occurrence, name, meaning.queue);
      if (!meaning.identifier.empty()) row.identifier = name;
      if (row.kernel.empty()) {
        row.kernel = meaning.kernel.empty() ? op->metadata : keep(meaning.kernel);
      }
      if (meaning.kind == Kind::kPhase) row.phase = keep(meaning.phase);
      row.covers_call = meaning.covers_call;
      has_cpu_row |= meaning.queue == nullptr;
    }
    operators_.clear();
    return has_cpu_row;
  }

  std::string_view keep(const std::string& text) { return *trace_.texts.insert(text).first; }

  // Returns 0 for an event that ends before it starts. Clocks of devices may wrap around, and their
  // widths are unknown.
  double elapsed_or_zero(const ProfileEvent& event) {
    if (event.start <= event.end) return static_cast<double>(event.end - event.start);
    ++trace_.reversed_events;
    return 0;
  }

  void add_kernel(const ProfileEvent& event, const ProfileEvent* native_call) {
    TraceRow& row = add(event, TraceRow::Kind::kKernel, 0, {});
    const size_t space = event.metadata.find(' ');
    if (!event.metadata.empty()) {  // text of Vitrine's own dumps: "aten::add.out portable"
      row.kernel = event.metadata.substr(0, space);
      if (space != std::string_view::npos) row.library = event.metadata.substr(space + 1);
    } else if (native_call != nullptr && native_call->instruction_id == event.instruction_id) {
      row.kernel = native_call->name.substr(kNativeCall.size());
      row.inner_times.add(run_, elapsed(*native_call));
    }
  }

  // Adds an event to the timeline. `ns` is its duration, corrected if the clock wrapped.
  void note(TimelineEvent::Kind kind, uint32_t index, const ProfileEvent& event, double ns) {
    trace_.events.push_back({.kind = kind,
                             .run = run_,
                             .index = index,
                             .start = event.start,
                             .end = event.start + static_cast<uint64_t>(ns)});
  }

  // Adds the row of a control instruction. Returns false for other events.
  bool add_control(const ProfileEvent& event) {
    for (const ControlEvent& control : kControlEvents) {
      if (control.event != event.name) continue;
      add(event, TraceRow::Kind::kControl, 0, {}).kernel = control.name;
      return true;
    }
    return false;
  }

  // Adds the event's time to its row. `name` is the identifier of a delegate's operator, and empty
  // for other events.
  TraceRow& add(const ProfileEvent& event, TraceRow::Kind kind, size_t occurrence,
                std::string_view name, const DeviceQueue* queue = nullptr) {
    const RowKey key{instruction_of(event), kind, event.delegate_debug_id, name, queue, occurrence};
    auto [entry, is_new] = row_of_key_.try_emplace(key);
    if (is_new) {
      // Inserts the row after the previous row of this run.
      const auto next = last_ == rows_.end() ? rows_.begin() : std::next(last_);
      entry->second = rows_.insert(next, TraceRow{.kind = kind,
                                                  .instruction = instruction_of(event),
                                                  .delegate_id = event.delegate_debug_id,
                                                  .delegate_name = event.delegate_debug_name,
                                                  .kernel = {},
                                                  .library = {},
                                                  .identifier = {},
                                                  .phase = {},
                                                  .covers_call = false,
                                                  .queue = queue,
                                                  .times = {},
                                                  .inner_times = {}});
      number_of_row_.emplace(&*entry->second, static_cast<uint32_t>(number_of_row_.size()));
    }
    last_ = entry->second;
    sequence_.push_back(&*last_);
    const double ns = queue == nullptr ? elapsed(event) : elapsed_or_zero(event);
    last_->times.add(run_, ns);
    note(TimelineEvent::Kind::kRow, number_of_row_.at(&*last_), event, ns);
    return *last_;
  }

  void finish() {
    std::vector<uint32_t> index_of_row(rows_.size());  // indexed by the row's number
    for (TraceRow& row : rows_) {
      index_of_row[number_of_row_.at(&row)] = static_cast<uint32_t>(trace_.rows.size());
      if (row.kind == TraceRow::Kind::kDelegateOperator ||
          row.kind == TraceRow::Kind::kDelegateCall) {
        trace_.calls[row.instruction].rows.push_back(trace_.rows.size());
      }
      trace_.rows.push_back(std::move(row));
    }
    std::vector<uint32_t> position_of_call(number_of_call_.size());
    uint32_t position = 0;
    for (const auto& [instruction, call] : trace_.calls) {
      const auto number = number_of_call_.find(instruction);
      if (number != number_of_call_.end()) position_of_call[number->second] = position;
      ++position;
    }
    for (TimelineEvent& event : trace_.events) {
      if (event.kind == TimelineEvent::Kind::kRow) event.index = index_of_row[event.index];
      if (event.kind == TimelineEvent::Kind::kDelegateCall) {
        event.index = position_of_call[event.index];
      }
    }
  }

  DelegateProfiles delegates_;
  const ProgramDelegates& program_;
  MergedTrace trace_;
  std::list<TraceRow> rows_;
  std::map<RowKey, std::list<TraceRow>::iterator> row_of_key_;
  // Rows and calls are numbered from 0 in the order of their first appearance.
  std::unordered_map<const TraceRow*, uint32_t> number_of_row_;
  std::map<InstructionId, uint32_t> number_of_call_;
  // State of the run being added.
  uint32_t run_ = 0;
  std::list<TraceRow>::iterator last_;
  std::vector<const ProfileEvent*> operators_;  // operators since the last delegate call
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

MergedTrace merge_runs(const etdump::EtDump& dump, DelegateProfiles delegates,
                       const ProgramDelegates& program) {
  return Merger(delegates, program).merge(dump);
}

}  // namespace vitrine::inspector
