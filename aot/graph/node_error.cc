#include "aot/graph/node_error.h"

#include <fmt/format.h>

#include <charconv>

#include "aot/graph/aot_error.h"

namespace vitrine::aot {
namespace {

constexpr std::string_view kFile = "File \"";
constexpr std::string_view kLine = "\", line ";
constexpr std::string_view kIn = ", in ";

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::string_view next_line(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return trimmed(line);
}

// Returns the innermost frame outside PyTorch's packages, or else the innermost of all frames.
const StackFrame* model_frame(const std::vector<StackFrame>& frames) {
  for (size_t i = frames.size(); i-- > 0;) {
    if (frames[i].file.find("-packages/torch/") == std::string::npos) return &frames[i];
  }
  return frames.empty() ? nullptr : &frames.back();
}

}  // namespace

std::vector<StackFrame> parse_stack_trace(std::string_view trace) {
  std::vector<StackFrame> frames;
  while (!trace.empty()) {
    std::string_view line = next_line(trace);
    if (!line.starts_with(kFile)) {
      if (!frames.empty() && frames.back().text.empty()) frames.back().text = line;
      continue;
    }
    line.remove_prefix(kFile.size());
    const size_t file_end = line.find(kLine);
    if (file_end == std::string_view::npos) continue;
    StackFrame& frame = frames.emplace_back();
    frame.file = line.substr(0, file_end);
    line.remove_prefix(file_end + kLine.size());
    std::from_chars(line.data(), line.data() + line.size(), frame.line);
    const size_t in = line.find(kIn);
    if (in != std::string_view::npos) frame.function = line.substr(in + kIn.size());
  }
  return frames;
}

void fail_at(const Node& node, std::string_view text) {
  std::string location = fmt::format("node {}", node.name());
  if (node.is_call()) location += fmt::format(" ({})", node.target().name());
  if (node.meta.origin != nullptr) {
    const std::vector<StackFrame> frames = parse_stack_trace(node.meta.origin->stack_trace);
    if (const StackFrame* frame = model_frame(frames)) {
      const size_t slash = frame->file.rfind('/');
      location += fmt::format(
          ", {}:{}", frame->file.substr(slash == std::string::npos ? 0 : slash + 1), frame->line);
    }
  }
  throw AotError(fmt::format("{}: {}", location, text));
}

}  // namespace vitrine::aot
