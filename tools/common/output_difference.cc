#include "tools/common/output_difference.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/common/tensors.h"

namespace vitrine::tools {
namespace {

using inspector::OutputDifference;

std::string describe_output(const EValue& value) {
  return value.is_tensor() ? describe(value.unchecked_tensor()) : tag_name(value.tag());
}

void compare_tensors(const Tensor& a, const Tensor& b, OutputDifference& result) {
  if (!std::ranges::equal(a.sizes(), b.sizes())) {
    result.why_not = "the shapes differ";
  } else if (const auto reason = inspector::why_not_comparable(a.dtype(), b.dtype());
             !reason.empty()) {
    result.why_not = reason;
  } else {
    const std::vector<std::byte> bytes_a = row_major_bytes(a);
    const std::vector<std::byte> bytes_b = row_major_bytes(b);
    result.figures = inspector::measure_difference({b.dtype(), bytes_b}, {a.dtype(), bytes_a});
  }
}

}  // namespace

OutputDifference compare_values(const EValue& a, const EValue& b) {
  OutputDifference result;
  result.a = describe_output(a);
  result.b = describe_output(b);
  if (a.is_tensor() && b.is_tensor()) {
    compare_tensors(a.unchecked_tensor(), b.unchecked_tensor(), result);
  } else {
    result.why_not = "an output is not a tensor";
  }
  return result;
}

std::vector<OutputDifference> compare_outputs(const Method& a, const Method& b) {
  std::vector<OutputDifference> results;
  for (size_t i = 0; i < std::max(a.num_outputs(), b.num_outputs()); ++i) {
    const bool in_a = i < a.num_outputs();
    const bool in_b = i < b.num_outputs();
    OutputDifference result;
    if (in_a && in_b) {
      result = compare_values(a.output(i), b.output(i));
    } else {
      result.why_not = fmt::format("only {} has this output", in_a ? "A" : "B");
      (in_a ? result.a : result.b) = describe_output(in_a ? a.output(i) : b.output(i));
    }
    result.index = i;
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace vitrine::tools
