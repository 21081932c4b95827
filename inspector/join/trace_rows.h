// Merges the runs of an ETDump: an instruction or operator that recurs in several runs is one row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/etdump/etdump_reader.h"
#include "inspector/join/delegate_profile.h"
#include "inspector/join/profile.h"

namespace vitrine::inspector {

// The times of one row in the runs that contain it.
class RunTimes {
 public:
  // Adds the time of a call. `run` must not decrease between calls to add().
  void add(size_t run, double ns);
  void subtract_from(std::vector<double>& ns_of_run) const;
  const RunSamples& samples() const { return samples_; }
  size_t calls_from(size_t first_run) const;

 private:
  RunSamples samples_;
  std::vector<uint32_t> calls_;  // parallel to samples_
};

// An instruction of a method: the index of its chain, and its index in the chain.
struct InstructionId {
  int32_t chain = 0;
  int32_t index = 0;
  auto operator<=>(const InstructionId&) const = default;
};

struct TraceRow {
  enum class Kind : uint8_t { kKernel, kDelegateOperator, kDelegateCall, kControl };
  Kind kind = Kind::kKernel;
  InstructionId instruction;
  int32_t delegate_id = etdump::kUnset;
  std::string_view delegate_name;  // string identifier
  // For a kernel, its name: "aten::add.out", or "add.out" in a stock dump. For a delegate operator,
  // the kernel that DelegateProfile::interpret() returned, or else the event's metadata. For a
  // control instruction, "move", "jump_false" or "free".
  std::string_view kernel;
  std::string_view library;  // library of a kernel; may be empty
  // The results of DelegateProfile::interpret() for a delegate's row. If `identifier` is not empty,
  // it replaces delegate_name.
  std::string_view identifier;
  std::string_view phase;
  bool covers_call = false;
  const DeviceQueue* queue = nullptr;
  RunTimes times;
  RunTimes inner_times;  // time in a kernel's function, which only stock traces contain
};

struct TraceCall {
  std::string_view delegate;  // backend id; empty in stock dumps
  std::vector<size_t> rows;   // rows of operators in order, or one row if the delegate logged none
  RunTimes times;
  const DelegateProfile* profile = nullptr;  // profile that interpreted the events; may be null
};

// The metadata of an operator map event.
struct OperatorMapText {
  const DelegateProfile* profile = nullptr;  // profile of the backend that logged the event
  std::string_view text;
};

// The merged runs of a trace. String views point into the EtDump or into `texts`.
struct MergedTrace {
  std::vector<TraceRow> rows;  // in run order
  std::map<InstructionId, TraceCall> calls;
  std::vector<double> wall_ns;        // wall time of each complete run
  std::vector<TimelineEvent> events;  // `index` is an index into `rows`, or a position in `calls`
  std::vector<Scope> scopes;
  std::set<std::string, std::less<>> texts;
  std::map<std::pair<InstructionId, std::string>, double> figures;  // figures of the last run, by
                                                                    // name
  size_t reversed_events = 0;  // events of device queues that end before they start; their time
                               // counts as 0
  size_t cold_runs = 0;        // number of warm-up runs before the first other run
  size_t incomplete_runs = 0;
  bool runs_differ = false;
  uint64_t dropped_records = 0;
  uint64_t dropped_blocks = 0;
  std::map<InstructionId, std::vector<OperatorMapText>> operator_maps;  // in the order of the trace
};

// Merges the runs of a trace. The n-th operator with a given identifier in a call of a delegate
// instruction is the same row in every run.
//
// `delegates` decide which events are operator maps. The profile of the call's backend interprets
// the events of a call. The trace or else `program` names the backend. Without a name, the first
// profile that recognizes an event of the call is used.
//
// Throws InspectorError if an event on the CPU's clock ends before it starts, unless a 32-bit
// counter may have wrapped around. Such an event of a device queue counts as 0.
MergedTrace merge_runs(const etdump::EtDump& dump, DelegateProfiles delegates,
                       const ProgramDelegates& program = {});

}  // namespace vitrine::inspector
