#include "inspector/compare/numerics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

namespace vitrine::inspector {
namespace {

using etdump::DebugTensor;

// Returns the step of the reference program that computed the value. If that step's result cannot
// be replaced, returns nothing and sets `why_not`.
std::optional<ReferenceResult> step_of(const RecordedValue& value, const Profile& reference,
                                       std::string& why_not) {
  if (!value.row) {
    why_not = "the reference's op for this value is unknown";
    return std::nullopt;
  }
  const ProfileRow& row = reference.rows[*value.row];
  if (row.where != Where::kKernel) {
    why_not = "the reference runs this op inside a delegate: lower the reference without a backend";
    return std::nullopt;
  }
  if (row.calls != 1) {
    why_not = "the reference runs this op more than once";
    return std::nullopt;
  }
  return ReferenceResult{row.instruction, value.result};
}

struct Range {
  double low = 0;
  double high = 0;
  double step = 0;
};

// Returns the range that a quantized value can represent. Returns nullopt for other values, and for
// values whose rows have their own scales, because no element can exceed such a range.
std::optional<Range> range_of(const std::optional<etdump::StoredAs>& stored) {
  if (!stored || stored->rows != 1) return std::nullopt;
  const bool is_signed = stored->dtype == ScalarType::kChar;
  const int32_t low = is_signed ? -128 : 0;
  const auto real = [&](int32_t element) {
    return double{stored->scale} * (element - stored->zero_point);
  };
  return Range{real(low), real(low + 255), double{stored->scale}};
}

// Adds the numbers of NaN, infinite and saturated elements to `row`. `bytes` holds the elements,
// dequantized to f32 if the value is quantized. `exact` holds the exact result (numerics.h), or
// nothing. `plain` is the reference's result in the plain run, or null. An element that is -inf in
// both the value and `plain` does not count, because models mask attention scores with -inf.
void count_elements(const std::vector<std::byte>& bytes, ScalarType dtype,
                    const std::vector<double>& exact, const Elements* plain, NumericsRow& row) {
  const ScalarType real = real_type(dtype);
  row.elements = bytes.size() / element_size(real);
  const std::optional<Range> range = range_of(row.stored_as);
  for (size_t i = 0; i < row.elements; ++i) {
    const double x = element_as_double(bytes, real, i);
    row.nan += std::isnan(x) ? 1 : 0;
    const bool is_mask = x == -std::numeric_limits<double>::infinity() && plain != nullptr &&
                         element_as_double(plain->bytes, real_type(plain->dtype), i) == x;
    row.infinite += std::isinf(x) && !is_mask ? 1 : 0;
    if (!range) continue;
    const double tolerance = range->step / 4;
    const bool at_low = std::abs(x - range->low) < tolerance;
    const bool at_high = std::abs(x - range->high) < tolerance;
    if (exact.empty()) {
      row.saturated += (at_low || at_high) && x != 0 ? 1 : 0;
    } else {
      row.saturated += (at_low && exact[i] < range->low - range->step / 2) ||
                               (at_high && exact[i] > range->high + range->step / 2)
                           ? 1
                           : 0;
    }
  }
}

size_t count_negative_infinities(const std::vector<std::byte>& bytes, ScalarType dtype) {
  const ScalarType real = real_type(dtype);
  size_t count = 0;
  for (size_t i = 0; i < bytes.size() / element_size(real); ++i) {
    const bool is_mask =
        element_as_double(bytes, real, i) == -std::numeric_limits<double>::infinity();
    count += is_mask ? 1 : 0;
  }
  return count;
}

class Measurer {
 public:
  Measurer(const ValueComparison& comparison, const ValueRun& reference, const ValueRun& program,
           const RecomputedResults& recomputed)
      : comparison_(comparison),
        reference_(reference),
        program_(program),
        recomputed_(recomputed),
        values_(recorded_values(program.profile, program.trace, program.record)) {}

  std::vector<NumericsRow> rows() {
    for (size_t i = 0; i < program_.profile.rows.size(); ++i) add_row(i);
    return std::move(rows_);
  }

 private:
  void add_row(size_t index) {
    const ProfileRow& row = program_.profile.rows[index];
    if (row.where == Where::kControl) return;
    const size_t before = rows_.size();
    for (const ComparedValue& value : comparison_.values) {
      if (value.b.row != index) continue;
      // `comparison_` contains a value once for each node that dequantizes the value. Only the
      // first entry counts.
      const bool is_new = std::none_of(
          rows_.begin() + static_cast<std::ptrdiff_t>(before), rows_.end(),
          [&](const NumericsRow& other) { return other.result == index_of_result(value.b); });
      if (is_new) rows_.push_back(compared(value));
    }
    if (rows_.size() != before) return;
    NumericsRow made;
    made.row = index;
    made.why_not_total = made.why_not_made_here = reason(index);
    for (const RecordedValue& value : values_.values) {
      if (value.row != index) continue;
      describe(value, made);
      try {
        const std::vector<std::byte> bytes = etdump::row_major_bytes(*value.tensor);
        count_elements(bytes, value.tensor->dtype, {}, nullptr, made);
        // Without the reference's value, the -inf of a mask cannot be distinguished from an
        // erroneous -inf. If the reference uses masks, -inf elements are therefore not counted.
        if (made.infinite != 0 && reference_has_masks()) {
          made.infinite -= count_negative_infinities(bytes, value.tensor->dtype);
        }
      } catch (const InspectorError&) {
        made.elements = 0;  // the dtype does not have numbers
      }
      break;
    }
    rows_.push_back(std::move(made));
  }

  bool reference_has_masks() {
    if (!has_masks_) {
      const RecordedValues values =
          recorded_values(reference_.profile, reference_.trace, reference_.record);
      has_masks_ = std::ranges::any_of(values.values, [](const RecordedValue& value) {
        return is_floating(value.tensor->dtype) &&
               count_negative_infinities(etdump::row_major_bytes(*value.tensor),
                                         value.tensor->dtype) != 0;
      });
    }
    return *has_masks_;
  }

  static size_t index_of_result(const RecordedValue& value) {
    return value.origin ? value.origin->result : value.result;
  }

  static void describe(const RecordedValue& value, NumericsRow& row) {
    row.result = index_of_result(value);
    row.type = fmt::format("{}[{}]", scalar_type_name(value.tensor->dtype),
                           fmt::join(value.tensor->sizes, ","));
    if (value.origin) row.stored_as = value.origin->stored_as;
  }

  NumericsRow compared(const ComparedValue& value) {
    NumericsRow row;
    row.row = *value.b.row;
    describe(value.b, row);
    row.reference_rows = value.op.rows_a;
    row.lines = value.lines;
    row.total = value.difference.figures;
    const std::vector<std::byte> own = etdump::row_major_bytes(*value.b.tensor);
    const std::vector<std::byte> plain = etdump::row_major_bytes(*value.a.tensor);
    std::vector<double> exact;
    const auto step = step_of(value.a, reference_.profile, row.why_not_made_here);
    const auto found = step ? recomputed_.find(*step) : recomputed_.end();
    if (found != recomputed_.end() && found->second.dtype == value.a.tensor->dtype &&
        found->second.bytes.size() == plain.size()) {
      const RecomputedTensor& tensor = found->second;
      const Elements expected{tensor.dtype, tensor.bytes};
      row.made_here = measure_difference({value.b.tensor->dtype, own}, expected);
      row.inherited = measure_difference(expected, {value.a.tensor->dtype, plain});
      const ScalarType real = real_type(tensor.dtype);
      exact.resize(tensor.bytes.size() / element_size(real));
      for (size_t i = 0; i < exact.size(); ++i) {
        exact[i] = element_as_double(tensor.bytes, real, i);
      }
    } else if (row.why_not_made_here.empty()) {
      row.why_not_made_here =
          "the reference did not recompute this value from the program's values";
    }
    const Elements reference{value.a.tensor->dtype, plain};
    const bool is_comparable = plain.size() / element_size(real_type(reference.dtype)) ==
                               own.size() / element_size(real_type(value.b.tensor->dtype));
    count_elements(own, value.b.tensor->dtype, exact, is_comparable ? &reference : nullptr, row);
    return row;
  }

  std::string reason(size_t index) const {
    const ProfileRow& row = program_.profile.rows[index];
    for (const UncomparedValue& value : comparison_.not_compared) {
      if (std::ranges::count(value.op.rows_b, index) != 0) return value.reason;
    }
    if (row.is_inserted) return "a layout change computes nothing";
    const bool has_value = std::ranges::any_of(
        values_.values, [&](const RecordedValue& value) { return value.row == index; });
    if (!has_value) return "no value was recorded";
    return "the reference has no value for this op";
  }

  const ValueComparison& comparison_;
  const ValueRun& reference_;
  const ValueRun& program_;
  const RecomputedResults& recomputed_;
  RecordedValues values_;
  std::optional<bool> has_masks_;  // empty until the reference was searched
  std::vector<NumericsRow> rows_;
};

void find_first_rows(Numerics& numerics) {
  numerics.first_below = numerics.first_not_finite = std::nullopt;
  for (size_t i = 0; i < numerics.rows.size(); ++i) {
    const NumericsRow& row = numerics.rows[i];
    const bool is_below = row.made_here && !(row.made_here->sqnr_db >= numerics.limit_db);
    if (is_below && !numerics.first_below) numerics.first_below = i;
    if (row.nan + row.infinite != 0 && !numerics.first_not_finite) numerics.first_not_finite = i;
  }
}

// Replaces the names A and B in a note with "the reference" and "the program".
std::string with_names(const std::string& note) {
  std::string result;
  for (size_t i = 0; i < note.size(); ++i) {
    const auto is_letter = [&](size_t at) {
      return at < note.size() && std::isalnum(static_cast<unsigned char>(note[at])) != 0;
    };
    const bool is_word = !is_letter(i + 1) && (i == 0 || !is_letter(i - 1));
    if (is_word && note[i] == 'A') {
      result += "the reference";
    } else if (is_word && note[i] == 'B') {
      result += "the program";
    } else {
      result += note[i];
    }
  }
  return result;
}

void add_figures(std::optional<TensorDifference>& all,
                 const std::optional<TensorDifference>& other) {
  if (all && other) {
    add_difference(*all, *other);
  } else if (other) {
    all = other;
  }
}

void note_worst(NumericsRow& row, const std::optional<TensorDifference>& made_here, size_t sample) {
  if (!made_here) return;
  // An SQNR is NaN if both signal and noise are infinite. NaN counts as worse than any number.
  const bool is_worse = !row.worst || (!std::isnan(row.worst->sqnr_db) &&
                                       !(made_here->sqnr_db >= row.worst->sqnr_db));
  if (is_worse) row.worst = {sample, made_here->sqnr_db};
}

void add_row(NumericsRow& all, const NumericsRow& row, size_t sample) {
  if (!all.made_here && row.made_here) all.why_not_made_here.clear();
  if (!all.total && row.total) all.why_not_total.clear();
  add_figures(all.made_here, row.made_here);
  add_figures(all.inherited, row.inherited);
  add_figures(all.total, row.total);
  all.elements += row.elements;
  all.nan += row.nan;
  all.infinite += row.infinite;
  all.saturated += row.saturated;
  note_worst(all, row.made_here, sample);
}

}  // namespace

std::map<ReferenceResult, const DebugTensor*> replacements(const ValueComparison& comparison,
                                                           const Profile& reference) {
  std::map<ReferenceResult, const DebugTensor*> result;
  for (const ComparedValue& value : comparison.values) {
    std::string ignored;
    if (const auto step = step_of(value.a, reference, ignored)) result[*step] = value.b.tensor;
  }
  return result;
}

Numerics measure_numerics(const ValueComparison& comparison, const ValueRun& reference,
                          const ValueRun& program, const RecomputedResults& recomputed,
                          double limit_db) {
  Numerics result;
  result.alignment = comparison.alignment;
  result.outputs = comparison.outputs;
  for (const std::string& note : comparison.notes) result.notes.push_back(with_names(note));
  result.limit_db = limit_db;
  result.rows = Measurer(comparison, reference, program, recomputed).rows();
  find_first_rows(result);
  return result;
}

void add_sample(Numerics& all, Numerics sample, const std::string& name) {
  const size_t index = all.samples.size();
  all.samples.push_back(name);
  if (index == 0) {
    sample.samples = std::move(all.samples);
    all = std::move(sample);
    for (NumericsRow& row : all.rows) note_worst(row, row.made_here, index);
    return;
  }
  size_t left_out = 0;
  for (const NumericsRow& row : sample.rows) {
    const auto same = std::ranges::find_if(all.rows, [&](const NumericsRow& other) {
      return other.row == row.row && other.result == row.result;
    });
    if (same != all.rows.end()) {
      add_row(*same, row, index);
    } else {
      ++left_out;
    }
  }
  if (left_out != 0) {
    all.notes.push_back(
        fmt::format("{}: left out {} values that the first sample does not have", name, left_out));
  }
  for (size_t i = 0; i < all.outputs.size() && i < sample.outputs.size(); ++i) {
    OutputDifference& output = all.outputs[i];
    if (output.why_not.empty()) output.why_not = sample.outputs[i].why_not;
    add_difference(output.figures, sample.outputs[i].figures);
  }
  find_first_rows(all);
}

}  // namespace vitrine::inspector
