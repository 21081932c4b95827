#include "tools/executor_runner/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text/number_texts.h"
#include "tools/common/files.h"
#include "tools/common/tensors.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

EValue constant_of(const bundled::BundledValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return EValue(*number);
  if (const auto* truth = std::get_if<bool>(&value)) return EValue(*truth);
  if (const auto* number = std::get_if<double>(&value)) return EValue(*number);
  return {};
}

std::string expected_input(const Method& method, size_t index) {
  if (!method.input(index).is_tensor()) return tag_name(method.input(index).tag());
  const TensorInfo info = method.meta().input_tensor(index);
  return describe(info.dtype, info.sizes);
}

// Rounds up, because a limit of 0 means "unlimited".
uint64_t milliseconds(std::optional<double> seconds) {
  constexpr double kMaxSeconds = 1e9;
  return static_cast<uint64_t>(std::ceil(1000 * std::min(seconds.value_or(0), kMaxSeconds)));
}

}  // namespace

InputSet::InputSet(const Method& method, const std::vector<InputSpec>& specs, uint64_t seed) {
  std::mt19937_64 generator(seed);
  size_t next = 0;
  for (size_t i = 0; i < method.num_inputs(); ++i) {
    kinds_.emplace_back();
    constants_.emplace_back();
    if (!method.input(i).is_tensor()) {
      arrays_.emplace_back();
      kinds_.back() = tag_name(method.input(i).tag());
      continue;
    }
    const TensorInfo info = method.meta().input_tensor(i);
    if (next >= specs.size()) {
      fill_random(arrays_.emplace_back(zeros_like(info)), generator);
      continue;
    }
    arrays_.push_back(read_input(specs[next++], i, info, "--inputs"));
  }
  if (next < specs.size()) {
    throw ToolError(fmt::format(
        "--inputs: {} files were given, but the method has {} tensor inputs", specs.size(), next));
  }
  const auto num_random = static_cast<size_t>(
      std::ranges::count_if(arrays_, [](const Array& array) { return !array.is_empty(); }) - next);
  if (next != 0) source_ = inspector::counted(next, "file");
  if (num_random == 0) return;
  if (next != 0) source_ += fmt::format(", {} ", num_random);
  source_ += fmt::format("random (seed {})", seed);
}

InputSet::InputSet(const Method& method, const SampleFiles& sample, const SampleQuery& query)
    : source_(sample.name) {
  std::map<std::string, NumpyArray> arrays;
  if (sample.is_archive()) arrays = read_npz(sample.files[0]);
  size_t next = 0;
  for (size_t i = 0; i < method.num_inputs(); ++i) {
    kinds_.emplace_back();
    constants_.emplace_back();
    if (!method.input(i).is_tensor()) {
      arrays_.emplace_back();
      kinds_.back() = tag_name(method.input(i).tag());
      continue;
    }
    const TensorInfo info = method.meta().input_tensor(i);
    const size_t tensor = next++;
    if (sample.is_archive()) {
      arrays_.push_back(to_input(take_array(sample.files[0], query, tensor, arrays), i, info,
                                 fmt::format("{} {}", query.option, sample.name)));
    } else {
      arrays_.push_back(read_input({sample.files[tensor], {}}, i, info, query.option));
    }
  }
}

InputSet::InputSet(const Method& method, const bundled::TestSet& set, const std::string& label)
    : source_(label) {
  if (set.inputs.size() != method.num_inputs()) {
    throw ToolError(fmt::format("{}: the test set has {} inputs, but the method has {}", label,
                                set.inputs.size(), method.num_inputs()));
  }
  for (size_t i = 0; i < set.inputs.size(); ++i) {
    const auto* tensor = std::get_if<bundled::BundledTensor>(&set.inputs[i]);
    kinds_.emplace_back();
    constants_.emplace_back();
    arrays_.emplace_back();
    if (tensor == nullptr) {
      kinds_.back() = tag_name(method.input(i).tag());
      constants_.back() = constant_of(set.inputs[i]);
      continue;
    }
    const bool matches = method.input(i).is_tensor() &&
                         method.meta().input_tensor(i).dtype == tensor->dtype &&
                         method.meta().input_tensor(i).sizes.size() == tensor->sizes.size();
    if (!matches) {
      throw ToolError(fmt::format("{}: input {} is {}, but the method expects {}", label, i,
                                  describe(tensor->dtype, tensor->sizes),
                                  expected_input(method, i)));
    }
    arrays_.back() =
        check(Array::zeros(tensor->dtype, tensor->sizes, method.meta().input_tensor(i).dim_order));
    check(arrays_.back().copy_from(row_major_bytes(*tensor)));
  }
}

InputSet::InputSet(const Method& method, const InputSet& other)
    : kinds_(other.kinds_), constants_(other.constants_), source_(other.source_) {
  if (method.num_inputs() != other.arrays_.size()) {
    throw ToolError(fmt::format("A has {} inputs and B has {}: they cannot run on the same inputs",
                                other.arrays_.size(), method.num_inputs()));
  }
  for (size_t i = 0; i < method.num_inputs(); ++i) {
    const bool is_tensor = method.input(i).is_tensor();
    if (is_tensor != !other.arrays_[i].is_empty()) {
      throw ToolError(fmt::format("input {} is a tensor in {} only", i, is_tensor ? "B" : "A"));
    }
    if (!is_tensor) {
      arrays_.emplace_back();
      continue;
    }
    const TensorInfo info = method.meta().input_tensor(i);
    const Tensor& values = other.arrays_[i].tensor();
    if (info.dtype != values.dtype() || info.sizes.size() != values.rank()) {
      throw ToolError(
          fmt::format("input {} is {} in A and {} in B: they cannot run on the same inputs", i,
                      describe(values), describe(info.dtype, info.sizes)));
    }
    arrays_.push_back(check(Array::zeros(info.dtype, values.sizes(), info.dim_order)));
    copy_elements(values, arrays_.back().mutable_tensor());
  }
}

InputSet::InputSet(std::vector<Array> values, std::string source)
    : arrays_(std::move(values)),
      kinds_(arrays_.size()),
      constants_(arrays_.size()),
      source_(std::move(source)) {}

void InputSet::apply(Method& method) {
  for (size_t i = 0; i < arrays_.size(); ++i) {
    Array& array = arrays_[i];
    if (!array.is_empty()) check(method.set_input(i, EValue(&array.mutable_tensor())));
    if (!constants_[i].is_none()) check(method.set_input(i, constants_[i]));
  }
}

std::vector<std::string> InputSet::descriptions() const {
  std::vector<std::string> result;
  for (size_t i = 0; i < arrays_.size(); ++i) {
    result.push_back(arrays_[i].is_empty() ? kinds_[i] : describe(arrays_[i].tensor()));
  }
  return result;
}

std::vector<std::byte> row_major_bytes(const bundled::BundledTensor& tensor) {
  Array array = check(Array::zeros(tensor.dtype, tensor.sizes, tensor.dim_order));
  std::ranges::copy(tensor.data, array.mutable_bytes().begin());
  return row_major_bytes(array.tensor());
}

SessionOptions session_options(const RunnerOptions& options) {
  return {.model = options.model,
          .data = options.data,
          .threads = options.threads,
          .backend_options = options.backend.parsed(),
          .optimized_kernels = !options.portable,
          .limits = {.max_milliseconds_per_run = milliseconds(options.timeout)},
          .accept_unwritten_outputs = options.accept_unwritten_outputs,
          .fixed_threads = options.fixed_threads};
}

InputSet make_inputs(const Session& session, const Method& method, const RunnerOptions& options,
                     TraceBuffer& trace) {
  const bundled::BundledProgram* bundle = session.bundle();
  const bundled::TestSuite* suite = bundle != nullptr ? bundle->suite(options.method) : nullptr;
  const size_t set = options.test_set.value_or(0);
  if (suite == nullptr || set >= suite->sets.size()) {
    if (options.test_set) {
      throw ToolError(fmt::format("--test_set {}: {} has {} test sets of method {}; the first is 0",
                                  set, options.model.string(),
                                  suite == nullptr ? 0 : suite->sets.size(), options.method));
    }
    return InputSet(method, options.inputs, options.seed);
  }
  if (!options.inputs.empty()) return InputSet(method, options.inputs, options.seed);
  trace.set_bundled_input_index(static_cast<int32_t>(set));
  return InputSet(method, suite->sets[set], fmt::format("{}, test set {}", options.method, set));
}

}  // namespace vitrine::tools
