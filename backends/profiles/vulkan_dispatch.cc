#include "backends/profiles/vulkan_dispatch.h"

#include <charconv>

namespace vitrine::vulkan {
namespace {

std::optional<uint64_t> number_in(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

// Returns the text after the last occurrence of `key`. Earlier occurrences may be in unescaped
// strings of the operator's arguments.
std::optional<std::string_view> behind(std::string_view text, std::string_view key) {
  const size_t at = text.rfind(key);
  if (at == text.npos) return std::nullopt;
  return text.substr(at + key.size());
}

std::optional<uint64_t> number_behind(std::string_view text, std::string_view key) {
  const auto value = behind(text, key);
  return value ? number_in(*value) : std::nullopt;
}

}  // namespace

DispatchEvent read_dispatch(std::string_view identifier) {
  DispatchEvent event;
  event.is_json = identifier.starts_with('{');
  if (!event.is_json) {
    const size_t line = identifier.rfind('_');
    event.kernel = identifier;
    if (line == identifier.npos) return event;
    event.dispatch_id = number_in(identifier.substr(line + 1));
    if (event.dispatch_id) event.kernel = identifier.substr(0, line);
    return event;
  }
  constexpr std::string_view kOperator = "{\"operator\": {\"name\": \"";
  if (identifier.starts_with(kOperator)) {
    event.op = identifier.substr(kOperator.size());
    event.op = event.op.substr(0, event.op.find('"'));
  }
  if (const auto kernel = behind(identifier, "\"kernel_name\": \"")) {
    event.kernel = kernel->substr(0, kernel->find('"'));
  } else {  // for example {Blit_Float_to_Half, "dispatch_id": 5}
    event.kernel = identifier.substr(1, identifier.find_first_of(",}\"", 1) - 1);
  }
  event.operator_id = number_behind(identifier, "\"operator_id\": ");
  event.node_id = number_behind(identifier, "\"delegate_node_id\": ");
  event.dispatch_id = number_behind(identifier, "\"dispatch_id\": ");
  return event;
}

}  // namespace vitrine::vulkan
