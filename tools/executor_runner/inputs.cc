#include "tools/executor_runner/inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/files.h"
#include "host/tensors.h"
#include "host/tool_error.h"

namespace vitrine::tools {
namespace {

EValue constant_of(const bundled::BundledValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return EValue(*number);
  if (const auto* truth = std::get_if<bool>(&value)) return EValue(*truth);
  if (const auto* number = std::get_if<double>(&value)) return EValue(*number);
  return {};
}

}  // namespace

InputSet::InputSet(const Method& method, const std::vector<InputSpec>& specs, uint64_t seed) {
  std::mt19937_64 generator(seed);
  size_t next = 0;
  for (size_t i = 0; i < method.num_inputs(); ++i) {
    others_.emplace_back();
    constants_.emplace_back();
    if (!method.input(i).is_tensor()) {
      arrays_.emplace_back();
      others_.back() = tag_name(method.input(i).tag());
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
    throw ToolError(fmt::format("--inputs: {} files for {} tensor inputs", specs.size(), next));
  }
}

InputSet::InputSet(const Method& method, const bundled::TestSet& set, const std::string& place) {
  if (set.inputs.size() != method.num_inputs()) {
    throw ToolError(fmt::format("{}: {} inputs, but the method has {}", place, set.inputs.size(),
                                method.num_inputs()));
  }
  for (size_t i = 0; i < set.inputs.size(); ++i) {
    const auto* tensor = std::get_if<bundled::BundledTensor>(&set.inputs[i]);
    others_.emplace_back();
    constants_.emplace_back();
    arrays_.emplace_back();
    if (tensor == nullptr) {
      others_.back() = tag_name(method.input(i).tag());
      constants_.back() = constant_of(set.inputs[i]);
      continue;
    }
    const bool fits = method.input(i).is_tensor() &&
                      method.meta().input_tensor(i).dtype == tensor->dtype &&
                      method.meta().input_tensor(i).sizes.size() == tensor->sizes.size();
    if (!fits) {
      throw ToolError(fmt::format("{}: input {} is {}, which the method does not take", place, i,
                                  describe(tensor->dtype, tensor->sizes)));
    }
    arrays_.back() =
        check(Array::zeros(tensor->dtype, tensor->sizes, method.meta().input_tensor(i).dim_order));
    check(arrays_.back().copy_from(row_major_bytes(*tensor)));
  }
}

InputSet::InputSet(const Method& method, const InputSet& same)
    : others_(same.others_), constants_(same.constants_) {
  if (method.num_inputs() != same.arrays_.size()) {
    throw ToolError(fmt::format("A takes {} inputs and B {}: they cannot share inputs",
                                same.arrays_.size(), method.num_inputs()));
  }
  for (size_t i = 0; i < method.num_inputs(); ++i) {
    const bool is_tensor = method.input(i).is_tensor();
    if (is_tensor != !same.arrays_[i].is_empty()) {
      throw ToolError(fmt::format("input {} is a tensor in {} only", i, is_tensor ? "B" : "A"));
    }
    if (!is_tensor) {
      arrays_.emplace_back();
      continue;
    }
    const TensorInfo info = method.meta().input_tensor(i);
    const Tensor& values = same.arrays_[i].tensor();
    if (info.dtype != values.dtype() || info.sizes.size() != values.rank()) {
      throw ToolError(fmt::format("input {} is {} in A and {} in B: they cannot share inputs", i,
                                  describe(values), describe(info.dtype, info.sizes)));
    }
    arrays_.push_back(check(Array::zeros(info.dtype, values.sizes(), info.dim_order)));
    copy_elements(values, arrays_.back().mutable_tensor());
  }
}

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
    result.push_back(arrays_[i].is_empty() ? others_[i] : describe(arrays_[i].tensor()));
  }
  return result;
}

std::vector<std::byte> row_major_bytes(const bundled::BundledTensor& tensor) {
  Array array = check(Array::zeros(tensor.dtype, tensor.sizes, tensor.dim_order));
  std::ranges::copy(tensor.data, array.mutable_bytes().begin());
  return row_major_bytes(array.tensor());
}

InputSet make_inputs(const Session& session, const Method& method, const RunnerOptions& options,
                     TraceBuffer& trace) {
  const bundled::BundledProgram* bundle = session.bundle();
  const bundled::TestSuite* suite = bundle != nullptr ? bundle->suite(options.method) : nullptr;
  const size_t set = options.test_set.value_or(0);
  if (suite == nullptr || set >= suite->sets.size()) {
    if (options.test_set) {
      throw ToolError(fmt::format("--test_set {}: {} has no such test set of method {}", set,
                                  options.model.string(), options.method));
    }
    return InputSet(method, options.inputs, options.seed);
  }
  if (!options.inputs.empty()) return InputSet(method, options.inputs, options.seed);
  trace.set_bundled_input_index(static_cast<int32_t>(set));
  return InputSet(method, suite->sets[set], fmt::format("{}, test set {}", options.method, set));
}

}  // namespace vitrine::tools
