#include "tools/pte_lower/auto/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "formats/etdump/etdump_reader.h"
#include "formats/etdump/etdump_writer.h"
#include "inspector/join/make_profile.h"
#include "runtime/extension/trace_buffer.h"
#include "runtime/platform/clock.h"
#include "tools/common/delegate_profiles.h"
#include "tools/common/median.h"
#include "tools/common/program_record.h"
#include "tools/common/tensors.h"
#include "tools/common/tool_error.h"
#include "vitrine/array.h"

namespace vitrine::tools {
namespace {

constexpr size_t kMinPairs = 5;
constexpr size_t kBlocks = 40;  // number of blocks of pairs
constexpr double kNsPerMs = 1e6;

bool is_float(ScalarType dtype) {
  return dtype == ScalarType::kFloat || dtype == ScalarType::kDouble ||
         dtype == ScalarType::kHalf || dtype == ScalarType::kBFloat16;
}

std::vector<Array> arrays_of(const aot::CalibrationSample& sample) {
  std::vector<Array> arrays;
  for (const aot::TensorData& input : sample.inputs) {
    const std::vector<int32_t> sizes(input.sizes.begin(), input.sizes.end());
    arrays.push_back(check(Array::copy_of(input.dtype, input.storage, sizes)));
  }
  return arrays;
}

void set_inputs(Method& method, const aot::CalibrationSample& sample, std::vector<Array>& arrays) {
  size_t next = 0;
  for (size_t i = 0; i < method.num_inputs(); ++i) {
    if (method.meta().input_tag(i) != EValue::Tag::kTensor) continue;
    if (next == arrays.size()) break;
    const Error error = method.set_input(i, EValue(&arrays[next++].mutable_tensor()));
    if (!error.ok()) throw ToolError(fmt::format("{}: {}", sample.name, ToolError(error).what()));
  }
}

}  // namespace

struct Comparison::Loaded {
  Loaded(const ProgramBytes& program, const std::string& name, std::shared_ptr<ThreadPool> pool,
         EventTracer* tracer = nullptr)
      : session({.model = "the lowered model",
                 .data = {},
                 .pool = std::move(pool),
                 .fixed_threads = true,
                 .program = program}),
        method(session.load_method(name, tracer)) {}
  Session session;
  std::unique_ptr<Method> method;
};

Comparison::Comparison(const aot::CalibrationData& data, size_t count, std::string method,
                       ProgramBytes reference)
    : data_(data), count_(count), method_(std::move(method)), reference_(std::move(reference)) {
  Loaded loaded(reference_, method_, nullptr);
  for (size_t i = 0; i < count_; ++i) expected_.push_back(run(loaded, i));
  for (size_t i = 0; i < loaded.method->num_outputs(); ++i) {
    const EValue& output = loaded.method->output(i);
    if (output.is_tensor()) dtypes_.push_back(output.unchecked_tensor().dtype());
  }
  if (std::ranges::none_of(dtypes_, is_float)) {
    throw ToolError(
        "--quantize auto: the model returns no floats, so its error cannot be measured");
  }
}

Comparison::Outputs Comparison::run(Loaded& loaded, size_t sample) const {
  const aot::CalibrationSample values = data_.read(sample);
  std::vector<Array> arrays = arrays_of(values);
  Method& method = *loaded.method;
  check(method.reset_state());  // a sample is one call of the exported model
  set_inputs(method, values, arrays);
  check(method.execute());
  Outputs outputs;
  for (size_t i = 0; i < method.num_outputs(); ++i) {
    const EValue& output = method.output(i);
    if (output.is_tensor()) outputs.push_back(row_major_bytes(output.unchecked_tensor()));
  }
  return outputs;
}

inspector::Profile Comparison::profile(const ProgramBytes& program) const {
  TraceBuffer trace;
  Loaded loaded(program, method_, nullptr, &trace);
  run(loaded, 0);
  const std::vector<uint8_t> dump = check(write_etdump(trace));
  std::vector<std::string> ignored;
  const auto record = record_for_program(*loaded.session.program(), {}, ignored);
  return inspector::make_profile(
      etdump::parse_etdump(std::as_bytes(std::span(dump.data(), dump.size()))),
      record ? &*record : nullptr, {.method = method_, .delegates = all_delegate_profiles()});
}

double Comparison::noise(const ProgramBytes& program) const {
  Loaded loaded(program, method_, nullptr);
  inspector::TensorDifference all;
  for (size_t sample = 0; sample < count_; ++sample) {
    const Outputs outputs = run(loaded, sample);
    for (size_t i = 0; i < dtypes_.size(); ++i) {
      if (!is_float(dtypes_[i])) continue;
      if (outputs.size() != dtypes_.size() || outputs[i].size() != expected_[sample][i].size()) {
        throw ToolError("--quantize auto: the quantized model returns a different shape");
      }
      inspector::add_difference(all,
                                inspector::measure_difference({dtypes_[i], outputs[i]},
                                                              {dtypes_[i], expected_[sample][i]}));
    }
  }
  if (all.noise == 0) return 0;
  const double ratio = all.noise / all.expected_square;
  return std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
}

TimeRatio Comparison::time_ratio(const ProgramBytes& program, const TimeBudget& budget) {
  Loaded a(reference_, method_, nullptr);
  Loaded b(program, method_, a.session.pool());
  const aot::CalibrationSample sample = data_.read(0);
  std::vector<Array> arrays = arrays_of(sample);
  const auto run_ms = [&](Loaded& loaded) {
    check(loaded.method->reset_state());
    set_inputs(*loaded.method, sample, arrays);
    const uint64_t start = platform::now_ns();
    check(loaded.method->execute());
    return static_cast<double>(platform::now_ns() - start) / kNsPerMs;
  };
  run_ms(a);
  run_ms(b);
  const uint64_t begin = platform::now_ns();
  const auto has_time = [&] {
    return static_cast<double>(platform::now_ns() - begin) / kNsPerMs < budget.ms;
  };
  std::vector<double> ratios;
  std::vector<double> reference;
  while (ratios.size() < kMinPairs || (ratios.size() < budget.max_pairs && has_time())) {
    // The first run of a pair can be slower, so `a` and `b` alternate.
    const bool is_first = ratios.size() % 2 == 0;
    double of_a = is_first ? run_ms(a) : 0;
    const double of_b = run_ms(b);
    if (!is_first) of_a = run_ms(a);
    ratios.push_back(std::max(of_b, 1 / kNsPerMs) / std::max(of_a, 1 / kNsPerMs));
    reference.push_back(std::max(of_a, 1 / kNsPerMs));
  }
  reference_ms_.push_back(median_of(std::move(reference)));
  return time_ratio_of(ratios);
}

Milliseconds Comparison::reference_time() const {
  return {.median = median_of(reference_ms_), .repeated = predict_ratio(reference_ms_)};
}

TimeRatio time_ratio_of(const std::vector<double>& ratios) {
  const size_t blocks = std::min(kBlocks, ratios.size());
  std::vector<double> medians;
  for (size_t i = 0; i < blocks; ++i) {
    medians.push_back(median_of(
        {ratios.begin() + static_cast<std::ptrdiff_t>(i * ratios.size() / blocks),
         ratios.begin() + static_cast<std::ptrdiff_t>((i + 1) * ratios.size() / blocks)}));
  }
  std::vector<double> sorted = medians;
  std::ranges::sort(sorted);
  // Sign test: with 95 % confidence, the true median is between the sorted values with the ranks
  // n/2 - 0.98 sqrt(n) and n/2 + 0.98 sqrt(n).
  const auto n = static_cast<double>(sorted.size());
  const double below = n / 2 - 0.98 * std::sqrt(n);
  const auto low = static_cast<size_t>(std::max(0.0, std::floor(below)));
  const bool is_significant =
      below >= 0 && (sorted[low] > 1 || sorted[sorted.size() - 1 - low] < 1);
  return {.ratio = median_of(ratios),
          .repeated = predict_ratio(medians),
          .is_significant = is_significant};
}

Milliseconds time_of(const TimeRatio& ratio, const Milliseconds& reference) {
  const auto half_width = [](const Interval& of) { return std::log(of.high / of.low) / 2; };
  const double ms = ratio.ratio * reference.median;
  const double half = std::hypot(half_width(ratio.repeated), half_width(reference.repeated));
  return {.median = ms, .repeated = {ms * std::exp(-half), ms * std::exp(half)}};
}

double decibels(double noise) {
  return noise == 0 ? std::numeric_limits<double>::infinity() : -10 * std::log10(noise);
}

}  // namespace vitrine::tools
