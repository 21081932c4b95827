// Keeps what the executions of a method log, in bounded memory: sums over all steps of a phase, and
// the records of a few steps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "vitrine/event_tracer.h"
#include "vitrine/text_generator.h"

namespace vitrine::llm {

enum class Phase : uint8_t { kPrefill, kDecode };
inline constexpr size_t kPhases = 2;
// As indices.
inline constexpr size_t kPrefill = static_cast<size_t>(Phase::kPrefill);
inline constexpr size_t kDecode = static_cast<size_t>(Phase::kDecode);

// What a step does outside of Method::execute, in order.
enum class Part : uint8_t {
  kPromptIds,  // from generate() to the prompt's ids
  kBetween,    // since the step before: this profiler's work, mostly
  kCall,       // inputs are set, logits read
  kSampling,
  kText,    // the tokenizer's text of a token
  kOutput,  // the callback
};
inline constexpr size_t kParts = 6;
using PartTimes = std::array<uint64_t, kParts>;  // ns, by Part

// One thing, over the steps of a phase. Usual steps are those without a disturbance; costs are
// fitted over them.
struct StepSums {
  uint64_t calls = 0;
  uint64_t total_ns = 0;
  uint64_t usual_ns = 0;
  uint64_t position_ns = 0;  // of usual steps: the sum of position * ns

  void add(uint64_t ns, uint64_t position, bool is_usual) {
    ++calls;
    total_ns += ns;
    if (!is_usual) return;
    usual_ns += ns;
    position_ns += position * ns;
  }
};

struct PhaseSums {
  // In the order in which they came first; of those that are the same, the first.
  std::vector<TraceRecord> records;
  std::vector<StepSums> sums;  // of each record
  uint64_t steps = 0;
  uint64_t tokens = 0;
  // Sums over usual steps.
  uint64_t usual_steps = 0;
  uint64_t positions = 0;         // sum of positions
  uint64_t position_squares = 0;  // and of their squares
};

struct KeptStep {
  GenerationStep step;
  PartTimes parts{};
  uint64_t number = 0;  // of its phase
  std::vector<TraceRecord> records;
};

class StepTracer final : public EventTracer {
 public:
  static constexpr size_t kRecordsAStep = size_t{1} << 16;  // besides those of whole executions
  static constexpr size_t kSampled = 8;                     // of each phase
  static constexpr size_t kSlowest = 4;

  void begin_block(const char* name) override;
  void record(const TraceRecord& record) override;
  void record_operators(const TracedOperators& all) override;

  // Records between the two calls are the step's.
  void begin_step(Phase phase);
  // `position` is that of the last token fed.
  void end_step(const GenerationStep& step, const PartTimes& parts, uint64_t position,
                bool is_usual);

  // The time of Method::execute in the last step.
  uint64_t executed_ns() const { return executed_ns_; }
  const std::vector<TraceRecord>& loading() const { return loading_; }
  const PhaseSums& phase(Phase phase) const { return phases_[static_cast<size_t>(phase)]; }
  // A sample and the slowest, each once, in the order of time: tracers of the same steps keep the
  // same ones.
  std::vector<const KeptStep*> kept() const;
  uint64_t dropped() const { return dropped_; }

 private:
  // What is logged at once: a record, or the operators of a delegate call.
  struct Identity {
    const void* name;  // of operators: their list
    int32_t chain_index;
    int32_t instruction_id;
    int32_t delegate_debug_id;
    TraceRecord::Kind kind;
    bool operator==(const Identity&) const = default;
  };
  struct Entry {
    Identity identity;
    uint32_t place;  // of its first record in the phase's
    uint32_t count;  // of records
  };
  // Entries of a phase by what they are of.
  struct Key {
    Identity identity;
    uint32_t occurrence;  // among the same operators of one delegate call
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };
  using Index = std::unordered_map<Key, size_t, KeyHash>;

  // An entry of the step. Each of its records but the first begins where the one before ends.
  struct Mark {
    uint64_t start_ns;
    size_t entry;
  };

  static Identity identity_of(const TraceRecord& record);
  static Identity identity_of(const TracedOperators& all);
  bool is_next(const Identity& identity, size_t count) const;
  void mark(uint64_t start_ns, std::span<const uint64_t> ends_ns);
  void expect(size_t entry);
  void record_unexpected(const TraceRecord& record);
  size_t find_entry(const TraceRecord& record);
  size_t find_entry(const TracedOperators& all);
  bool add_entry(const Key& key, size_t count, size_t* entry);
  template <class Visit>  // (place, start_ns, end_ns)
  void for_each_record(const Visit& visit) const;
  void keep(const GenerationStep& step, const PartTimes& parts);
  std::vector<TraceRecord> current_records() const;

  // The step's.
  std::unique_ptr<Mark[]> marks_;
  size_t mark_count_ = 0;
  std::unique_ptr<uint64_t[]> ends_ns_;  // of its records
  size_t count_ = 0;
  // What should come next, and the end of the phase's; null outside of steps.
  const Entry* next_ = nullptr;
  const Entry* end_ = nullptr;
  size_t phase_ = 0;
  bool is_in_step_ = false;
  bool is_loading_ = true;
  uint64_t executed_ns_ = 0;
  uint64_t dropped_ = 0;
  std::vector<TraceRecord> loading_;
  std::array<PhaseSums, kPhases> phases_;
  // In the order in which they came first. By themselves, and small: between two tokens they leave
  // the caches.
  std::array<std::vector<Entry>, kPhases> entries_;
  std::array<Index, kPhases> indices_;
  std::array<uint64_t, kPhases> strides_ = {1, 1};
  std::array<std::vector<KeptStep>, kPhases> sampled_;
  std::array<std::vector<KeptStep>, kPhases> slowest_;
};

}  // namespace vitrine::llm
