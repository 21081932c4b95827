#include "api/backend_options.h"

#include "api/builtin.h"

namespace vitrine {
namespace {

std::string_view text_of(const OptionValue& value) {
  const auto* text = std::get_if<std::string_view>(&value);
  return text == nullptr ? std::string_view() : *text;
}

}  // namespace

Result<BackendOptions> BackendOptions::copy_of(std::span<const BackendOption> options) {
  VITRINE_RETURN_IF_ERROR(check_backends(options));
  size_t bytes = 0;
  for (const BackendOption& option : options) {
    bytes += option.backend.size() + option.key.size() + text_of(option.value).size();
  }
  BackendOptions copy;
  VITRINE_RETURN_IF_ERROR(copy.texts_.reserve(bytes));
  VITRINE_RETURN_IF_ERROR(copy.options_.reserve(options.size()));
  const auto keep = [&](std::string_view text) {  // cannot fail: memory is reserved for all texts
    const char* const at = copy.texts_.end();
    static_cast<void>(copy.texts_.append({text.data(), text.size()}));
    return std::string_view(at, text.size());
  };
  for (const BackendOption& option : options) {
    BackendOption kept{keep(option.backend), keep(option.key), option.value};
    if (auto* text = std::get_if<std::string_view>(&kept.value)) *text = keep(*text);
    static_cast<void>(copy.options_.push_back(kept));
  }
  return copy;
}

}  // namespace vitrine
