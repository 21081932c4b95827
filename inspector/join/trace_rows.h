// The runs of an ETDump, merged: one row for everything that recurs from run to run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/etdump/etdump_reader.h"
#include "inspector/join/delegate_profile.h"
#include "inspector/join/profile.h"

namespace vitrine::inspector {

// Times of one row, in the runs that have it.
class RunTimes {
 public:
  // Runs come in ascending order.
  void add(size_t run, double ns);
  void subtract_from(std::vector<double>& ns_of_run) const;
  const RunSamples& samples() const { return samples_; }
  size_t calls_from(size_t first_run) const;

 private:
  RunSamples samples_;
  std::vector<uint32_t> calls_;  // parallel to samples_
};

struct TraceRow {
  enum class Kind : uint8_t { kKernel, kDelegateOperator, kDelegateCall, kControl };
  Kind kind = Kind::kKernel;
  int32_t instruction = 0;
  int32_t delegate_id = etdump::kUnset;
  std::string_view delegate_name;  // string identifier
  // For a kernel "aten::add.out", or "add.out" from a stock dump; for a delegate operator its
  // metadata; for a control instruction "move", "jump_false", "free".
  std::string_view kernel;
  std::string_view library;  // of a kernel, may be empty
  RunTimes times;
  RunTimes inner_times;  // of a kernel's function alone: stock traces tell both
};

// A delegate instruction.
struct TraceCall {
  std::string_view delegate;  // backend id; empty in stock dumps
  std::vector<size_t> rows;   // its operators in order, or the one row of a silent delegate
  RunTimes times;
};

// The metadata of a plan event.
struct PlanText {
  const DelegateProfile* profile = nullptr;  // whose event it is
  std::string_view text;
};

// Text belongs to the EtDump.
struct MergedTrace {
  std::vector<TraceRow> rows;          // in run order
  std::map<int32_t, TraceCall> calls;  // by instruction
  std::vector<double> wall_ns;         // of each complete run
  std::vector<TimelineEvent> events;   // index: of rows; of a call, its instruction
  std::vector<Scope> scopes;
  size_t cold_runs = 0;  // of these, warm-ups before the first other run
  size_t incomplete_runs = 0;
  bool runs_differ = false;
  uint64_t dropped_records = 0;
  uint64_t dropped_blocks = 0;
  std::optional<double> init_ns;                   // Method::init
  std::map<int32_t, std::vector<PlanText>> plans;  // by instruction, in the order of the trace
};

// Within an instruction, an operator is recognised in other runs by its identifier and the how
// manieth of that identifier it is. `delegates` say which events are plans. Throws
// InspectorError for times that run backwards.
MergedTrace merge_runs(const etdump::EtDump& dump, DelegateProfiles delegates);

}  // namespace vitrine::inspector
