// Two profiles side by side, aligned by what of the source model ran: delegated against portable,
// f32 against int8, yesterday's build against today's.
//
// Rows of the two sides that stand for the same source op form one ComparedOp; so do rows that
// share an op through a third row (an operator that took in two ops stands against both kernels).
// Every row of either side is in exactly one ComparedOp, hence per side
//   sum of ops + unattributed == wall
// holds as it does for profiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "inspector/compare/tensor_difference.h"
#include "inspector/join/profile.h"

namespace vitrine::inspector {

// How rows were aligned; the best method that both sides allow.
enum class Alignment : uint8_t {
  kHandles,  // debug handles: both programs come from one exported graph
  kOps,      // op and module: other graphs of the same model, e.g. a quantised one
  kOrder,    // names in run order: a side has no record. A guess where a name recurs
};

// B divided by A. `low` and `high` enclose the middle 80 % of the ratios of runs.
struct Ratio {
  double p50 = 0;
  double low = 0;
  double high = 0;

  // Whether the change exceeds the noise of the runs.
  bool excludes_one() const { return low > 1 || high < 1; }
};

struct ComparedOp {
  std::vector<size_t> rows_a, rows_b;  // positions in Profile::rows; one of them may be empty
  TimeStatistics a, b;                 // ns a run, of all rows together; 0 without rows
  std::optional<Ratio> ratio;          // only with rows, and time, on both sides
  double change = 0;                   // ns: avg of b - avg of a

  bool is_aligned() const { return !rows_a.empty() && !rows_b.empty(); }
};

// How far an output of B is from the same output of A, over elements in logical order.
struct OutputDifference {
  size_t index = 0;
  std::string a, b;     // "f32[1,1000]"
  std::string why_not;  // not comparable: other shapes or kinds; then nothing below is set
  TensorDifference
      figures;  // of B from A, which is the expected one; mismatches: what is not equal
};

struct Comparison {
  Alignment alignment = Alignment::kHandles;
  bool is_paired = false;  // run i of A and run i of B followed each other
  // How many runs of each side all figures cover. The slowest tenth of either side is left out (of
  // paired runs, both): other load on the machine would hide the change.
  size_t runs_a = 0;
  size_t runs_b = 0;
  std::vector<ComparedOp> ops;  // in A's run order; what only B has, where B runs it
  ComparedOp unattributed;
  ComparedOp wall;
  size_t aligned_rows_a = 0;
  size_t aligned_rows_b = 0;
  std::vector<OutputDifference> outputs;  // filled in by who ran the programs
  std::vector<std::string> notes;
};

// `is_paired`: the runs were interleaved, so ratios are those of neighbouring runs; else all pairs
// of runs count. Warm-ups do not count.
Comparison compare_profiles(const Profile& a, const Profile& b, bool is_paired);

}  // namespace vitrine::inspector
