// Compares the outputs of ops in two runs of a model on the same inputs, to find the op at which
// the runs start to differ.
//
// If both programs come from one exported graph, tensors are matched by the node that produced
// them. Otherwise, they are matched by the rows of their source op (row_alignment.h). Tensors that
// only one run recorded, such as values inside a delegate, are not compared.
//
// If one run may have folded an op into the preceding op (folded_users.h), the results of the
// preceding op are not comparable. For a convolution with a folded batch norm, the batch norm's
// result is compared instead. All other values that are not comparable are listed with the reason.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "inspector/compare/comparison.h"
#include "inspector/compare/recorded_values.h"

namespace vitrine::inspector {

struct ComparedValue {
  ComparedOp op;                   // only its rows are set
  std::string node_op;             // for example "relu"; empty without a record
  std::vector<std::string> lines;  // lines of the model's source; may be empty
  OutputDifference difference;     // its index is the index of the op's result
  RecordedValue a, b;              // their tensors point into the traces or `reordered`
};

// A value of A and a value of B that belong to the same op but are not comparable.
struct UncomparedValue {
  ComparedOp op;  // only its rows are set
  std::string node_op;
  std::string reason;
};

struct ValueComparison {
  Alignment alignment = Alignment::kHandles;
  std::vector<ComparedValue> values;          // in A's run order
  std::vector<UncomparedValue> not_compared;  // in A's run order
  std::vector<OutputDifference> outputs;      // outputs of the method
  double min_sqnr_db = 0;
  std::optional<size_t> first_below;  // first value with an SQNR below min_sqnr_db
  size_t recorded_a = 0;              // number of tensors that A's instructions recorded
  size_t recorded_b = 0;
  size_t unpaired_a = 0;  // number of tensors of A without a counterpart in B
  size_t unpaired_b = 0;
  std::string advice;  // how to compare more values; may be empty
  std::vector<std::string> notes;
  std::deque<etdump::DebugTensor> reordered_a, reordered_b;  // the tensors of
                                                             // RecordedValues::reordered

  bool has_figures() const;  // true if any value or output was compared
  bool is_below() const;     // true if any value or output is below min_sqnr_db
};

struct ValueRun {
  const Profile& profile;
  const etdump::EtDump& trace;           // must have its debug data
  const etrecord::MethodRecord* record;  // may be null
};

inline constexpr double kDefaultMinSqnrDb = 40;

// The error message if has_figures() is false.
inline constexpr char kNothingCompared[] =
    "nothing was compared: A and B have no comparable values (the report lists the reasons)";

// Compares the values of two runs; A is the reference. Throws InspectorError if a side did not
// record values.
ValueComparison compare_values(const ValueRun& a, const ValueRun& b, double min_sqnr_db);

}  // namespace vitrine::inspector
