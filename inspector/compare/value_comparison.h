// Where two runs of a model on the same inputs begin to differ: the outputs of their ops, side by
// side in run order.
//
// Tensors are set against each other by the node that they are a result of, where both programs
// come from one exported graph; else by the rows that stand for the same source op
// (row_alignment.h). What only one side recorded (the inside of a delegate, ops that were
// folded) is not compared.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "inspector/compare/comparison.h"
#include "inspector/compare/recorded_values.h"

namespace vitrine::inspector {

struct ComparedValue {
  ComparedOp op;                   // its rows only
  std::string node_op;             // "relu"; empty without a record
  std::vector<std::string> lines;  // of the model's source; may be empty
  OutputDifference difference;     // index: the how manieth result of the op
};

struct ValueComparison {
  Alignment alignment = Alignment::kHandles;
  std::vector<ComparedValue> values;      // in A's run order
  std::vector<OutputDifference> outputs;  // of the method
  double min_sqnr_db = 0;
  std::optional<size_t> first_below;  // of `values`: SQNR below min_sqnr_db
  size_t recorded_a = 0;              // tensors of instructions
  size_t recorded_b = 0;
  std::vector<std::string> notes;

  bool is_below() const;  // any value or output is
};

struct ValueRun {
  const Profile& profile;
  const etdump::EtDump& trace;           // with its debug data
  const etrecord::MethodRecord* record;  // may be null
};

inline constexpr double kDefaultMinSqnrDb = 40;

// A is the reference. Throws InspectorError if a side recorded no values.
ValueComparison compare_values(const ValueRun& a, const ValueRun& b, double min_sqnr_db);

}  // namespace vitrine::inspector
