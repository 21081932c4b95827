// Separates the error that each operator of a program makes from the error that it inherits.
//
// A reference program runs twice on the inputs of the examined program. The first run is a plain
// run. The second run replaces each result of the reference with the value that the program
// recorded for the same op. Each op of the reference thus gets the inputs that the op has in the
// program. Its result before the replacement is called the exact result. Each operator has three
// errors, which are differences between two values:
//
//   made here   the program's value against the exact result
//   inherited   the exact result against the reference's result in the plain run
//   total       the program's value against the reference's result in the plain run
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "inspector/compare/value_comparison.h"

namespace vitrine::inspector {

// The default limit on the SQNR of an operator. Correct int8 operators typically have 30 to 45 dB.
inline constexpr double kDefaultNumericsLimitDb = 30;

struct ReferenceResult {
  int32_t instruction = 0;
  size_t result = 0;  // index among the results of the instruction
  auto operator<=>(const ReferenceResult&) const = default;
};

// A result that the reference computed from the program's own inputs. Elements are row-major.
struct RecomputedTensor {
  ScalarType dtype = ScalarType::kFloat;
  std::vector<std::byte> bytes;
};
using RecomputedResults = std::map<ReferenceResult, RecomputedTensor>;

// Returns the program's value for each result of the reference that can be replaced. Only results
// of kernels that ran once can be replaced. `comparison` must have the reference as A.
std::map<ReferenceResult, const etdump::DebugTensor*> replacements(
    const ValueComparison& comparison, const Profile& reference);

struct NumericsRow {
  size_t row = 0;     // index of the profile's row
  size_t result = 0;  // index among the row's results
  std::string type;   // for example "f32[1,32,112,112]"; empty without a value
  std::optional<etdump::StoredAs> stored_as;
  // Rows of the reference that compute the counterpart of the program's value. If only one program
  // folds a batch norm into the preceding convolution, the counterpart is the result after the
  // batch norm.
  std::vector<size_t> reference_rows;
  std::vector<std::string> lines;  // lines of the model's source
  // Figures and counts cover all samples, as if their values were one tensor.
  std::optional<TensorDifference> made_here, inherited, total;
  // The first sample with the lowest SQNR in made_here. NaN counts as the lowest SQNR. Only
  // add_sample() sets this member.
  struct WorstSample {
    size_t sample = 0;  // index in Numerics::samples
    double sqnr_db = 0;
  };
  std::optional<WorstSample> worst;
  // The reasons why figures are missing. Empty if no figure is missing.
  std::string why_not_total, why_not_made_here;
  size_t elements = 0;
  size_t nan = 0;
  size_t infinite = 0;
  // Number of saturated elements. A quantized element at an end of its range is saturated if its
  // exact value is more than half a quantization step beyond that end. Without exact values, every
  // nonzero element at an end of the range counts as saturated.
  size_t saturated = 0;
};

struct Numerics {
  std::vector<std::string> samples;  // names of samples; empty after a run on one input
  Alignment alignment = Alignment::kHandles;
  std::vector<NumericsRow> rows;           // in run order
  std::vector<OutputDifference> outputs;   // outputs of the method; the reference is expected
  std::optional<size_t> first_below;       // first row whose made_here is below limit_db
  std::optional<size_t> first_not_finite;  // first row with a NaN or infinity
  double limit_db = 0;
  std::vector<std::string> notes;
};

// `comparison` compares `reference` (A) with `program` (B).
Numerics measure_numerics(const ValueComparison& comparison, const ValueRun& reference,
                          const ValueRun& program, const RecomputedResults& recomputed,
                          double limit_db);

// Adds a program's results on one more sample to `all`. Before the first sample, `all` is empty.
void add_sample(Numerics& all, Numerics sample, const std::string& name);

}  // namespace vitrine::inspector
