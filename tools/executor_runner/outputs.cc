#include "tools/executor_runner/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text/text_layout.h"
#include "inspector/compare/tensor_difference.h"
#include "tools/common/files.h"
#include "tools/common/tensors.h"

namespace vitrine::tools {
namespace {

constexpr size_t kSummaryElements = 6;

std::string describe_value(const EValue& value) {
  switch (value.tag()) {
    case EValue::Tag::kTensor:
      return describe(value.unchecked_tensor());
    case EValue::Tag::kInt:
      return fmt::format("{}", value.unchecked_int());
    case EValue::Tag::kDouble:
      return fmt::format("{}", value.unchecked_double());
    case EValue::Tag::kBool:
      return value.unchecked_bool() ? "true" : "false";
    case EValue::Tag::kString:
      return fmt::format("\"{}\"", inspector::printable(value.unchecked_string()));
    default:
      return tag_name(value.tag());
  }
}

std::string print_tensor(const Tensor& tensor, PrintOutput what) {
  if (is_complex(tensor.dtype())) return " (complex elements are not printed)";
  const std::vector<std::byte> bytes = row_major_bytes(tensor);
  const auto count = static_cast<size_t>(tensor.numel());
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  double sum = 0;
  for (size_t i = 0; i < count; ++i) {
    const double x = inspector::element_as_double(bytes, tensor.dtype(), i);
    low = std::min(low, x);
    high = std::max(high, x);
    sum += x;
  }
  std::string text;
  if (count > 0) {
    text = fmt::format("  min {:.6g}  max {:.6g}  mean {:.6g}", low, high,
                       sum / static_cast<double>(count));
  }
  text += what == PrintOutput::kAll ? "\n  [" : "  [";
  const size_t shown = what == PrintOutput::kAll ? count : std::min(count, kSummaryElements);
  for (size_t i = 0; i < shown; ++i) {
    text += fmt::format("{}{:.6g}", i == 0 ? "" : ", ",
                        inspector::element_as_double(bytes, tensor.dtype(), i));
  }
  text += shown < count ? ", …]" : "]";
  return text;
}

}  // namespace

std::vector<std::string> describe_outputs(const Method& method) {
  std::vector<std::string> result;
  for (size_t i = 0; i < method.num_outputs(); ++i) {
    result.push_back(describe_value(method.output(i)));
  }
  return result;
}

std::string print_outputs(const Method& method, PrintOutput what) {
  std::string text;
  if (what == PrintOutput::kNone) return text;
  for (size_t i = 0; i < method.num_outputs(); ++i) {
    const EValue& value = method.output(i);
    text += fmt::format("output {}: {}", i, describe_value(value));
    if (value.is_tensor()) text += print_tensor(value.unchecked_tensor(), what);
    text += '\n';
  }
  return text;
}

void write_outputs(const Method& method, const std::string& base) {
  for (size_t i = 0; i < method.num_outputs(); ++i) {
    if (!method.output(i).is_tensor()) continue;
    write_file(fmt::format("{}-{}.bin", base, i),
               row_major_bytes(method.output(i).unchecked_tensor()));
  }
}

}  // namespace vitrine::tools
