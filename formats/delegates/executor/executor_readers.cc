// Reads payloads of ExecuTorch's demo backends: a program inside a program, or a text that lists
// operators.
#include "formats/delegates/byte_view.h"
#include "formats/delegates/payload_text.h"

namespace vitrine::delegates {
namespace executor {
namespace {

constexpr std::string_view kExecutorBackends[] = {"ExecutorBackend"};
constexpr std::string_view kTextBackends[] = {"BackendWithCompilerDemo"};
constexpr std::string_view kHandle = "<debug_handle>";

PayloadDescription read_executor(const PayloadInput& input) {
  if (!has_text_at(input.bytes, 4, "ET12")) {
    throw FormatError("program inside the delegate: no \"ET12\" at byte 4");
  }
  PayloadDescription result;
  result.kind = "program inside the delegate";
  result.options = options_text(input);
  result.program = input.bytes;
  return result;
}

// Reads a text such as "1version:0#op:demo::aten.add.Tensor, numel:4,
// dtype:torch.float32<debug_handle>1#". Each part ends with '#'; a part that begins with "op:" is
// an operator.
PayloadDescription read_text(const PayloadInput& input) {
  std::string_view text = text_of(input.bytes);
  while (text.ends_with('\0')) text.remove_suffix(1);
  if (!is_printable(text)) {
    throw FormatError("demo payload: expected text, found bytes that are not printable");
  }
  PayloadDescription result;
  result.kind = "text of ExecuTorch's demo compiler";
  result.options = options_text(input);
  PayloadGraph& graph = result.graphs.emplace_back();
  while (!text.empty()) {
    const size_t end = text.find('#');
    std::string_view part = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (const size_t version = part.find("version:"); version != std::string_view::npos) {
      result.version = part.substr(version + 8);
      continue;
    }
    if (!part.starts_with("op:")) continue;
    part.remove_prefix(3);
    PayloadOperator op;
    const size_t handle = std::min(part.find(kHandle), part.size());
    const std::string_view handle_text =
        part.substr(std::min(handle + kHandle.size(), part.size()));
    part = part.substr(0, handle);
    op.name = part.substr(0, part.find(", "));
    while (part.find(", ") != std::string_view::npos) {
      part.remove_prefix(part.find(", ") + 2);
      const std::string_view argument = part.substr(0, part.find(", "));
      const size_t colon = std::min(argument.find(':'), argument.size());
      op.arguments.push_back({std::string(argument.substr(0, colon)),
                              std::string(argument.substr(std::min(colon + 1, argument.size())))});
    }
    if (!handle_text.empty()) op.arguments.push_back({"debug_handle", std::string(handle_text)});
    graph.operators.push_back(std::move(op));
  }
  return result;
}

}  // namespace
}  // namespace executor

const DelegateReader kExecutorReader = {executor::kExecutorBackends, "program", nullptr,
                                        executor::read_executor};
const DelegateReader kCompilerDemoReader = {executor::kTextBackends, "demo delegate payload",
                                            nullptr, executor::read_text};

}  // namespace vitrine::delegates
