// Compares two profiles, A and B, for each op of the source model. A and B may be a delegated and a
// portable run, an f32 and an int8 run, or the runs of two builds.
//
// Rows of A and B for the same source op form one ComparedOp. If an operator of one side runs two
// fused ops, its row is compared with the rows of both ops on the other side. Every row is in
// exactly one ComparedOp, so the averages of each side add up:
//   sum of ops + unattributed == wall
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "inspector/compare/ratio.h"
#include "inspector/compare/tensor_difference.h"
#include "inspector/join/profile.h"

namespace vitrine::inspector {

// The ways to align the rows of A and B, from the most to the least reliable. The first possible
// way is used.
enum class Alignment : uint8_t {
  kHandles,  // debug handles, if both programs come from one exported graph
  kOps,    // op and module, if the programs come from different graphs of a model, e.g. a quantized
           // graph
  kOrder,  // names in run order, if A or B has no record; a guess if a name recurs
};

struct ComparedOp {
  std::vector<size_t> rows_a, rows_b;  // indices in Profile::rows; one list may be empty
  TimeStatistics a, b;                 // sum of the rows' times, in ns per run; 0 without rows
  std::optional<Ratio> ratio;          // set if both sides have rows and took time
  double change = 0;                   // change of the medians, b.p50 - a.p50, in ns

  bool is_aligned() const { return !rows_a.empty() && !rows_b.empty(); }
};

// The difference between A and B in an output of the method or a result of an op. Elements are in
// logical order.
struct OutputDifference {
  size_t index = 0;
  std::string a, b;          // types, such as "f32[1,1000]"
  std::string why_not;       // reason why the outputs cannot be compared; `figures` is then unset
  TensorDifference figures;  // A is the expected tensor; `mismatches` counts unequal elements
};

struct ComparedQueue;

struct Comparison {
  Alignment alignment = Alignment::kHandles;
  bool is_paired = false;      // true if run i of B came right before or after run i of A
  const char* sample = "run";  // the unit that is compared, for messages
  // The numbers of runs of A and B from which all figures are computed. A side with ten or more
  // runs omits its slowest tenth. With paired runs, the other run of the pair is also omitted.
  size_t runs_a = 0;
  size_t runs_b = 0;
  std::vector<ComparedOp> ops;  // in A's run order, with the ops of B alone in between
  ComparedOp unattributed;
  ComparedOp wall;
  size_t aligned_rows_a = 0;
  size_t aligned_rows_b = 0;
  std::vector<OutputDifference> outputs;  // filled in by the caller that ran the programs
  bool has_ticks = false;                 // true if times are ticks of unknown length, not ns
  std::vector<ComparedQueue> queues;      // device queues that both profiles have
  std::vector<std::string> notes;
};

struct ComparedQueue {
  size_t a = 0, b = 0;  // indices in Profile::queues
  Comparison comparison;
};

// Compares the times of A and B, which are in the order of the runs. The result has no rows.
ComparedOp compare_times(const std::vector<double>& a, const std::vector<double>& b,
                         bool is_paired);

// Compares two profiles. If `is_paired` is true, the runs of A and B were interleaved, and each
// ratio compares two neighboring runs. Otherwise, each run of A is compared with each run of B.
// Warm-ups do not count.
Comparison compare_profiles(const Profile& a, const Profile& b, bool is_paired);

}  // namespace vitrine::inspector
