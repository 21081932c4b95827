#include "tools/executor_runner/replacement.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/common/delegate_lines.h"
#include "tools/common/tensors.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

std::string describe_value(EValue::Tag tag, const TensorInfo& info) {
  return tag == EValue::Tag::kTensor ? describe(info.dtype, info.sizes) : tag_name(tag);
}

std::vector<std::string> inputs_of(const MethodMeta& meta) {
  std::vector<std::string> values;
  for (size_t i = 0; i < meta.num_inputs(); ++i) {
    values.push_back(describe_value(meta.input_tag(i), meta.input_tensor(i)));
  }
  return values;
}

std::vector<std::string> outputs_of(const MethodMeta& meta) {
  std::vector<std::string> values;
  for (size_t i = 0; i < meta.num_outputs(); ++i) {
    values.push_back(describe_value(meta.output_tag(i), meta.output_tensor(i)));
  }
  return values;
}

void check_same(const char* kind, const std::vector<std::string>& wanted,
                const std::vector<std::string>& found) {
  for (size_t i = 0; i < std::max(wanted.size(), found.size()); ++i) {
    const std::string a = i < wanted.size() ? wanted[i] : "missing";
    const std::string b = i < found.size() ? found[i] : "missing";
    if (a == b) continue;
    throw ToolError(
        fmt::format("--replace_delegates: the replacement is another model: {} {} is {} in the "
                    "program, but {} in the replacement",
                    kind, i, a, b));
  }
}

std::string partition(const Program& program, const std::filesystem::path& file,
                      const std::string& method) {
  std::string text = file.string() + "\n";
  for (const std::string& line : delegate_lines(program, method, nullptr, DelegateChoice::kAll)) {
    text += "  " + line + "\n";
  }
  return text + "  " + kernel_line(program, method) + "\n";
}

}  // namespace

void check_same_interface(const Program& program, const Program& replacement,
                          const std::string& method) {
  const MethodMeta wanted = check(program.method_meta(method));
  const MethodMeta found = check(replacement.method_meta(method));
  check_same("input", inputs_of(wanted), inputs_of(found));
  check_same("output", outputs_of(wanted), outputs_of(found));
}

std::string describe_replacement(const Program& program, const std::filesystem::path& file,
                                 const Program& replacement,
                                 const std::filesystem::path& replacement_file,
                                 const std::string& method) {
  return "replaced  " + partition(program, file, method) + "runs      " +
         partition(replacement, replacement_file, method);
}

}  // namespace vitrine::tools
