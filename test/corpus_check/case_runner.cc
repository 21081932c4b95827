#include "test/corpus_check/case_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "test/corpus_check/comparison.h"
#include "tools/common/files.h"
#include "tools/common/session.h"
#include "tools/common/tensors.h"
#include "tools/common/tool_error.h"

namespace vitrine::corpus {
namespace {

using tools::ToolError;

void set_input(Method& method, size_t index, const CaseValue& value, std::vector<Array>& arrays) {
  switch (value.kind) {
    case CaseValue::Kind::kTensor: {
      // Converts the elements of the file, which are in logical order, to the dim order of the
      // program.
      const Tensor& planned =
          method.input(index).is_tensor()
              ? method.input(index).unchecked_tensor()
              : throw ToolError("the program expects a value that is not a tensor");
      if (planned.rank() != value.sizes.size()) {
        throw ToolError(
            fmt::format("the input has rank {}, expected {}", value.sizes.size(), planned.rank()));
      }
      Array& array = arrays.emplace_back(
          tools::check(Array::zeros(value.dtype, value.sizes, planned.dim_order())));
      tools::check(array.copy_from(tools::read_file(value.file)));
      tools::check(method.set_input(index, EValue(&array.mutable_tensor())));
      return;
    }
    case CaseValue::Kind::kInt:
      return tools::check(method.set_input(index, EValue(value.integer)));
    case CaseValue::Kind::kDouble:
      return tools::check(method.set_input(index, EValue(value.real)));
    case CaseValue::Kind::kBool:
      return tools::check(method.set_input(index, EValue(value.boolean)));
    case CaseValue::Kind::kString:
      return tools::check(method.set_input(index, EValue(std::string_view(value.text))));
    case CaseValue::Kind::kNone:
      return tools::check(method.set_input(index, EValue()));
  }
}

// Returns the failure; empty if the output is within tolerance.
std::string check_output(const EValue& output, const CaseValue& expected,
                         const Tolerance& tolerance, CaseResult& result) {
  const auto number = [&](bool has_right_kind, double actual, double wanted) -> std::string {
    if (!has_right_kind) return "the kind of the output differs from the expected kind";
    if (actual == wanted) return "";
    return fmt::format("the output is {}, expected {}", actual, wanted);
  };
  switch (expected.kind) {
    case CaseValue::Kind::kTensor: {
      if (!output.is_tensor()) return "the output is not a tensor";
      const Tensor& tensor = output.unchecked_tensor();
      if (tensor.dtype() != expected.dtype || !std::ranges::equal(tensor.sizes(), expected.sizes)) {
        return fmt::format("the output is {}, expected {}", tools::describe(tensor),
                           tools::describe(expected.dtype, expected.sizes));
      }
      const std::vector<std::byte> wanted = tools::read_file(expected.file);
      const std::vector<std::byte> actual = tools::row_major_bytes(tensor);
      if (wanted.size() != actual.size())
        return "the file of the expected output differs in size from the output";
      const Comparison comparison = compare(actual, wanted, tensor.dtype(), tolerance);
      result.max_abs = std::max(result.max_abs, comparison.max_abs);
      result.max_rel = std::max(result.max_rel, comparison.max_rel);
      return comparison.failure;
    }
    case CaseValue::Kind::kInt:
      return number(output.is_int(),
                    output.is_int() ? static_cast<double>(output.unchecked_int()) : 0,
                    static_cast<double>(expected.integer));
    case CaseValue::Kind::kDouble:
      return number(output.is_double(), output.is_double() ? output.unchecked_double() : 0,
                    expected.real);
    case CaseValue::Kind::kBool:
      return number(output.is_bool(), output.is_bool() && output.unchecked_bool() ? 1 : 0,
                    expected.boolean ? 1 : 0);
    case CaseValue::Kind::kString:
      return output.is_string() && output.unchecked_string() == expected.text
                 ? ""
                 : "the output is another string";
    case CaseValue::Kind::kNone:
      return output.is_none() ? "" : "the output is not None";
  }
  return "the case has an unknown value kind";
}

// Runs a call and checks its outputs. A program's outputs are the mutated inputs, followed by the
// outputs of the model.
void run_call(Method& method, const CaseCall& call, const Tolerance& tolerance,
              CaseResult& result) {
  if (call.inputs.size() != method.num_inputs()) {
    throw ToolError(fmt::format("the program has {} inputs, but the case has {}",
                                method.num_inputs(), call.inputs.size()));
  }
  std::vector<Array> arrays;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    try {
      set_input(method, i, call.inputs[i], arrays);
    } catch (const std::exception& error) {
      throw ToolError(fmt::format("input {}: {}", i, error.what()));
    }
  }
  tools::check(method.execute());
  if (method.num_outputs() < call.outputs.size()) {
    throw ToolError(fmt::format("the program has {} outputs, but the case has {}",
                                method.num_outputs(), call.outputs.size()));
  }
  const size_t first = method.num_outputs() - call.outputs.size();
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    const std::string failure =
        check_output(method.output(first + i), call.outputs[i], tolerance, result);
    if (!failure.empty()) throw ToolError(fmt::format("output {}: {}", i, failure));
  }
}

void append_outputs(const Method& method, std::vector<std::vector<std::byte>>& to) {
  for (size_t i = 0; i < method.num_outputs(); ++i) {
    const EValue& output = method.output(i);
    if (output.is_tensor()) to.push_back(tools::row_major_bytes(output.unchecked_tensor()));
  }
}

}  // namespace

CaseResult run_case(const Case& test_case, const RunOptions& options) {
  CaseResult result;
  if (test_case.model.empty()) {
    result.status = CaseResult::Status::kSkipped;
    result.reason = "the case has no program";
    return result;
  }
  try {
    tools::Session session({test_case.model, test_case.data, options.threads,
                            options.backend_options, options.optimized_kernels});
    std::map<std::string, std::unique_ptr<Method>> methods;
    for (size_t i = 0; i < test_case.calls.size(); ++i) {
      const CaseCall& call = test_case.calls[i];
      std::unique_ptr<Method>& method = methods[call.method];
      if (!method) method = session.load_method(call.method, options.tracer);
      try {
        run_call(*method, call, test_case.tolerance, result);
        if (options.outputs != nullptr) append_outputs(*method, *options.outputs);
      } catch (const std::exception& error) {
        throw ToolError(fmt::format("call {} ({}): {}", i, call.method, error.what()));
      }
    }
    if (options.finish) options.finish();
  } catch (const std::exception& error) {
    result.status = CaseResult::Status::kFailed;
    result.reason = error.what();
  }
  return result;
}

}  // namespace vitrine::corpus
