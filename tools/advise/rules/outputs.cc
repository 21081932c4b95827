// Finds outputs that repeat an input or another output. Each of these outputs costs a copy and
// memory.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tools/advise/rules.h"

namespace vitrine::tools {

std::vector<Advice> advise_outputs(const Context& context) {
  if (context.lowered == nullptr) return {};
  const auto found = context.lowered->methods.find(context.method);
  if (found == context.lowered->methods.end()) return {};
  const aot::GraphSignature& signature = found->second.signature;
  std::vector<Advice> all;
  std::set<std::string> seen;
  for (size_t i = 0; i < signature.outputs.size(); ++i) {
    const aot::OutputSpec& output = signature.outputs[i];
    if (output.kind != aot::OutputSpec::Kind::kUserOutput || output.name.empty()) continue;
    const bool is_input = std::ranges::any_of(
        signature.inputs, [&](const aot::InputSpec& input) { return input.name == output.name; });
    const bool is_repeated = !seen.insert(output.name).second;
    if (!is_input && !is_repeated) continue;
    all.push_back({.name = fmt::format("output_{}", i),
                   .what = fmt::format("output {} is unnecessary", i),
                   .why = is_input ? fmt::format("it is the input {}", output.name)
                                   : fmt::format("another output also returns {}", output.name),
                   .how = fmt::format("do not return output {} from the model", i)});
  }
  return all;
}

}  // namespace vitrine::tools
