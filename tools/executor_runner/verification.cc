#include "tools/executor_runner/verification.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/common/file_kind.h"
#include "tools/common/files.h"
#include "tools/common/npy.h"
#include "tools/common/tensors.h"
#include "tools/common/tool_error.h"
#include "tools/executor_runner/execution.h"
#include "tools/executor_runner/inputs.h"

namespace vitrine::tools {
namespace {

// Elements in row-major order. Empty `sizes` match any sizes.
struct ExpectedOutput {
  ScalarType dtype;
  std::optional<std::vector<int32_t>> sizes;
  std::vector<std::byte> bytes;
};

OutputCheck check_output(const EValue& value, const ExpectedOutput& expected,
                         const RunnerOptions& options) {
  OutputCheck check;
  if (!value.is_tensor()) {
    check.description = tag_name(value.tag());
    check.failure = "expected a tensor";
    return check;
  }
  const Tensor& actual = value.unchecked_tensor();
  check.description = describe(actual);
  check.tolerance = inspector::default_tolerance(actual.dtype());
  if (options.rtol) check.tolerance.rtol = *options.rtol;
  if (options.atol) check.tolerance.atol = *options.atol;
  check.min_sqnr_db = options.min_sqnr;
  const bool same_sizes = !expected.sizes || std::ranges::equal(*expected.sizes, actual.sizes());
  if (actual.dtype() != expected.dtype || !same_sizes) {
    check.failure = fmt::format(
        "expected {}",
        describe(expected.dtype, expected.sizes ? *expected.sizes : std::vector<int32_t>()));
    return check;
  }
  if (expected.bytes.size() != actual.nbytes()) {
    check.failure =
        fmt::format("has {} bytes, expected {}", actual.nbytes(), expected.bytes.size());
    return check;
  }
  const std::vector<std::byte> bytes = row_major_bytes(actual);
  check.difference = inspector::measure_difference(
      {actual.dtype(), bytes}, {expected.dtype, expected.bytes}, check.tolerance);
  // With --min_sqnr as the only limit, single elements may deviate by any amount.
  const bool by_element = !options.min_sqnr || options.rtol || options.atol;
  if (options.min_sqnr && !(check.difference->sqnr_db >= *options.min_sqnr)) {
    check.failure = fmt::format("SQNR is below {} dB", *options.min_sqnr);
  } else if (by_element && check.difference->first) {
    const inspector::TensorDifference::Mismatch& first = *check.difference->first;
    check.failure = fmt::format("{} of {} elements differ; [{}] is {:.7g}, expected {:.7g}",
                                check.difference->mismatches, check.difference->elements,
                                first.element, first.actual, first.expected);
  }
  return check;
}

void check_outputs(const Method& method, size_t test_set,
                   const std::vector<ExpectedOutput>& expected, const RunnerOptions& options,
                   VerificationReport& report) {
  if (expected.size() != method.num_outputs()) {
    throw ToolError(
        fmt::format("{}, test set {}: {} expected outputs were given, but the method has {}",
                    method.meta().name(), test_set, expected.size(), method.num_outputs()));
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    OutputCheck check = check_output(method.output(i), expected[i], options);
    check.method = method.meta().name();
    check.test_set = test_set;
    check.output = i;
    report.checks.push_back(std::move(check));
  }
}

std::vector<ExpectedOutput> expected_outputs(const bundled::TestSet& set,
                                             const std::string& label) {
  std::vector<ExpectedOutput> all;
  for (const bundled::BundledValue& value : set.expected_outputs) {
    const auto* tensor = std::get_if<bundled::BundledTensor>(&value);
    if (tensor == nullptr) {
      throw ToolError(fmt::format("{}: expected output {} is not a tensor", label, all.size()));
    }
    all.push_back({tensor->dtype, tensor->sizes, row_major_bytes(*tensor)});
  }
  return all;
}

void run(Method& method, InputSet& inputs, const RunnerOptions& options) {
  inputs.apply(method);
  execute(method, options);
}

void verify_suite(Session& session, const bundled::TestSuite& suite, const RunnerOptions& options,
                  VerificationReport& report) {
  if (options.test_set && *options.test_set >= suite.sets.size()) {
    throw ToolError(fmt::format("--test_set {}: method {} has {} test sets; the first is 0",
                                *options.test_set, suite.method, suite.sets.size()));
  }
  const std::unique_ptr<Method> method = session.load_method(suite.method);
  for (size_t i = 0; i < suite.sets.size(); ++i) {
    if (options.test_set && *options.test_set != i) continue;
    const std::string label = fmt::format("{}, test set {}", suite.method, i);
    InputSet inputs(*method, suite.sets[i], label);
    run(*method, inputs, options);
    ++report.test_sets;
    if (suite.sets[i].expected_outputs.empty() && method->num_outputs() != 0) {
      ++report.without_expected;
      continue;
    }
    check_outputs(*method, i, expected_outputs(suite.sets[i], label), options, report);
  }
}

void verify_bundle(Session& session, const RunnerOptions& options, VerificationReport& report) {
  const bundled::BundledProgram& bundle = *session.bundle();
  if (options.method_is_given) {
    const bundled::TestSuite* suite = bundle.suite(options.method);
    if (suite == nullptr) {
      throw ToolError(
          fmt::format("{}: the file has no test sets of method {}", report.model, options.method));
    }
    return verify_suite(session, *suite, options, report);
  }
  for (const bundled::TestSuite& suite : bundle.suites) {
    verify_suite(session, suite, options, report);
  }
}

// Reads a .npy file, or raw row-major elements with the dtype of output `index`.
ExpectedOutput read_expected(const std::filesystem::path& file, const Method& method,
                             size_t index) {
  std::vector<std::byte> bytes = read_file(file);
  if (find_file_kind(bytes) == FileKind::kNumpyArray) {
    const std::string label = fmt::format("--expected_output {}", file.string());
    NumpyArray array = parse_npy(bytes, label);
    return {array.dtype, tensor_sizes(array, label), std::move(array.bytes)};
  }
  const bool is_tensor = index < method.num_outputs() && method.output(index).is_tensor();
  return {is_tensor ? method.output(index).unchecked_tensor().dtype() : ScalarType::kByte,
          std::nullopt, std::move(bytes)};
}

void verify_files(Session& session, const RunnerOptions& options, VerificationReport& report) {
  if (options.expected.empty()) {
    throw ToolError(fmt::format(
        "{}: --verify needs a bundled program (.bpte), or --inputs and --expected_output",
        report.model));
  }
  const std::unique_ptr<Method> method = session.load_method(options.method);
  InputSet inputs(*method, options.inputs, options.seed);
  run(*method, inputs, options);
  report.test_sets = 1;
  std::vector<ExpectedOutput> expected;
  for (const std::filesystem::path& file : options.expected) {
    expected.push_back(read_expected(file, *method, expected.size()));
  }
  check_outputs(*method, 0, expected, options, report);
}

void refuse_empty(const VerificationReport& report) {
  if (!report.checks.empty()) return;
  throw ToolError(fmt::format("{}: nothing to compare: {} test sets, none with expected outputs",
                              report.model, report.test_sets));
}

}  // namespace

size_t VerificationReport::failures() const {
  return static_cast<size_t>(
      std::ranges::count_if(checks, [](const OutputCheck& one) { return !one.failure.empty(); }));
}

VerificationReport verify(Session& session, const RunnerOptions& options) {
  VerificationReport report;
  report.model = options.model.filename().string();
  if (session.bundle() != nullptr && options.expected.empty()) {
    verify_bundle(session, options, report);
  } else {
    verify_files(session, options, report);
  }
  refuse_empty(report);
  return report;
}

VerificationReport verify(Session& session, const bundled::TestSuite& suite,
                          const RunnerOptions& options) {
  VerificationReport report;
  report.model = options.model.filename().string();
  verify_suite(session, suite, options, report);
  refuse_empty(report);
  return report;
}

}  // namespace vitrine::tools
