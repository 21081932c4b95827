// Summarizes a method's trace records in bounded memory: sums over all steps of a phase, and the
// records of a few steps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vitrine/event_tracer.h"
#include "vitrine/text_generator.h"

namespace vitrine::llm {

enum class Phase : uint8_t { kPrefill, kDecode };
inline constexpr size_t kPhases = 2;
inline constexpr size_t kPrefill = static_cast<size_t>(Phase::kPrefill);
inline constexpr size_t kDecode = static_cast<size_t>(Phase::kDecode);

// Parts of a step outside of Method::execute, in order of time.
enum class StepPart : uint8_t {
  kPromptIds,  // generate() tokenizes the prompt
  kBetween,    // time since the previous step, mostly spent by the profiler
  kCall,       // setting inputs and reading logits
  kSampling,
  kText,    // the tokenizer decodes the token
  kOutput,  // the callback
};
inline constexpr size_t kStepParts = 6;
using StepPartTimes = std::array<uint64_t, kStepParts>;  // ns, indexed by StepPart

// Totals over all steps of a phase: of one record, of one StepPart, or of the wall times. Costs are
// fitted only to usual steps: TokenProfiler::is_usual() is true.
struct StepSums {
  uint64_t calls = 0;
  uint64_t total_ns = 0;
  uint64_t usual_ns = 0;
  uint64_t position_ns = 0;  // sum of position * ns over usual steps
  double squares_ns = 0;     // sum of the squares of the times of usual steps
  uint64_t last_step = UINT64_MAX;
  uint64_t last_step_ns = 0;  // time of all calls in that step

  // `step` is the index of the step within its phase.
  void add(uint64_t ns, uint64_t position, bool is_usual, uint64_t step) {
    ++calls;
    total_ns += ns;
    if (!is_usual) return;
    usual_ns += ns;
    position_ns += position * ns;
    if (std::exchange(last_step, step) != step) last_step_ns = 0;
    squares_ns += static_cast<double>(ns) * static_cast<double>(2 * last_step_ns + ns);
    last_step_ns += ns;
  }
};

struct PhaseSums {
  // Distinct records of the phase's steps, in order of their first appearance.
  std::vector<TraceRecord> records;
  std::vector<StepSums> sums;  // one element per record
  uint64_t steps = 0;
  uint64_t tokens = 0;
  // The following members cover only usual steps:
  uint64_t usual_steps = 0;
  uint64_t positions = 0;
  uint64_t position_squares = 0;
  uint64_t first_position = UINT64_MAX;
  uint64_t last_position = 0;
};

struct KeptStep {
  GenerationStep step;
  StepPartTimes parts{};
  uint64_t index = 0;  // index among the steps of the phase
  std::vector<TraceRecord> records;
};

class StepTracer final : public EventTracer {
 public:
  // Limit on the number of records per step, without the records for Method::execute itself.
  static constexpr size_t kMaxRecordsPerStep = size_t{1} << 16;
  // A phase keeps a regular sample of at most kMaxSampled steps, and the kMaxSlowest slowest steps.
  static constexpr size_t kMaxSampled = 8;
  static constexpr size_t kMaxSlowest = 4;

  void begin_block(const char* name) override;
  void record(const TraceRecord& record) override;
  void record_operators(const TracedOperators& all) override;
  bool wants_results() const override { return false; }

  // All records up to end_step() belong to the step.
  void begin_step(Phase phase);
  // `position` is the position of the last token fed.
  void end_step(const GenerationStep& step, const StepPartTimes& parts, uint64_t position,
                bool is_usual);

  // Time in Method::execute during the last step.
  uint64_t executed_ns() const { return executed_ns_; }
  const std::vector<TraceRecord>& loading() const { return loading_; }
  const PhaseSums& phase(Phase phase) const { return phases_[static_cast<size_t>(phase)]; }
  // Returns the kept steps in chronological order, without duplicates. All tracers of a profiler
  // keep the same steps.
  std::vector<const KeptStep*> kept() const;
  // Number of records dropped because a step exceeded kMaxRecordsPerStep.
  uint64_t dropped() const { return dropped_; }

 private:
  // Identifies the data of one logging call: a record, or the operators of a delegate call.
  struct Identity {
    const void* name;  // the record's name, or the address of the list of operators
    int32_t chain_index;
    int32_t instruction_id;
    int32_t delegate_debug_id;
    TraceRecord::Kind kind;
    bool operator==(const Identity&) const = default;
  };
  // Consecutive records of PhaseSums::records that are logged together.
  struct RecordGroup {
    Identity identity;
    uint32_t first;  // index of the first record
    uint32_t count;
  };
  struct GroupKey {
    Identity identity;
    uint32_t occurrence;  // index among equal operators of one delegate call
    bool operator==(const GroupKey&) const = default;
  };
  struct GroupKeyHash {
    size_t operator()(const GroupKey& key) const;
  };
  using GroupIndex = std::unordered_map<GroupKey, size_t, GroupKeyHash>;

  // A group that the current step has logged. The first record starts at `start_ns`. Each later
  // record starts where the previous record ends.
  struct LoggedGroup {
    uint64_t start_ns;
    size_t group;
  };

  static Identity identity_of(const TraceRecord& record);
  static Identity identity_of(const TracedOperators& all);
  bool is_next(const Identity& identity, size_t count) const;
  void log_next(uint64_t start_ns, std::span<const uint64_t> ends_ns);
  void expect(size_t group);
  void record_unexpected(const TraceRecord& record);
  size_t find_group(const TraceRecord& record);
  size_t find_group(const TracedOperators& all);
  bool add_group(const GroupKey& key, size_t count, size_t* group);
  template <class Visit>  // visit(index in PhaseSums::records, start_ns, end_ns)
  void for_each_record(const Visit& visit) const;
  void keep(const GenerationStep& step, const StepPartTimes& parts);
  std::vector<TraceRecord> current_records() const;

  // The following members describe the current step:
  std::unique_ptr<LoggedGroup[]> logged_;
  size_t logged_count_ = 0;
  std::unique_ptr<uint64_t[]> ends_ns_;  // one element per record
  size_t count_ = 0;                     // number of records
  // The next expected group, and the end of the phase's groups. Null outside of steps.
  const RecordGroup* next_ = nullptr;
  const RecordGroup* end_ = nullptr;
  size_t phase_ = 0;
  bool is_in_step_ = false;
  bool is_loading_ = true;
  uint64_t executed_ns_ = 0;
  uint64_t dropped_ = 0;
  std::vector<TraceRecord> loading_;
  std::array<PhaseSums, kPhases> phases_;
  // Groups in order of their first appearance. The tracer reads groups for every token, so groups
  // are stored apart from the larger records.
  std::array<std::vector<RecordGroup>, kPhases> groups_;
  std::array<GroupIndex, kPhases> indices_;
  std::array<uint64_t, kPhases> strides_ = {1, 1};
  std::array<std::vector<KeptStep>, kPhases> sampled_;
  std::array<std::vector<KeptStep>, kPhases> slowest_;
};

}  // namespace vitrine::llm
