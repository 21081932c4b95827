#include "tools/advise/variant.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "tools/common/shell_word.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

constexpr std::array<std::string_view, 10> kRepeatable = {
    "--backend",  "--backend-option", "--only-op",  "--exclude-op", "--dynamic",
    "--max-size", "--operator",       "--metadata", "--calibrate",  "--keep"};

// True if a change adds values of this option to the baseline's values. False for --backend,
// because a change replaces the baseline's backends.
bool is_repeatable(std::string_view option) {
  return option != "--backend" && std::ranges::count(kRepeatable, option) != 0;
}

bool has_no_backend(const Settings& settings) {
  return std::ranges::count(settings, Setting{"--backend", "none"}) != 0;
}

// True if an option of `settings` has an effect only with a backend.
bool needs_backend(const Settings& settings) {
  return std::ranges::any_of(settings, [](const Setting& setting) {
    return setting.option == "--backend-option" || setting.option == "--only-op" ||
           setting.option == "--exclude-op";
  });
}

std::string conflict_of(const Settings& a, const Settings& b) {
  for (const Setting& one : a) {
    if (is_repeatable(one.option)) continue;
    for (const Setting& other : b) {
      if (one.option == other.option && one.value != other.value) return one.option;
    }
  }
  return "";
}

void merge(const Settings& change, Settings& base) {
  std::erase_if(base, [&](const Setting& old) {
    return !is_repeatable(old.option) && std::ranges::any_of(change, [&](const Setting& one) {
      return one.option == old.option;
    });
  });
  for (const Setting& one : change) {
    if (std::ranges::count(base, one) == 0) base.push_back(one);
  }
}

std::string joined(const Settings& settings) {
  std::string text;
  for (const std::string& word : words_of(settings)) text += ' ' + shell_word(word);
  return text;
}

}  // namespace

Settings parse_settings(std::string_view text) {
  Settings settings;
  bool takes_value = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string word(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    if (word.starts_with("--")) {
      const size_t equals = word.find('=');
      settings.push_back(
          {word.substr(0, equals), equals == std::string::npos ? "" : word.substr(equals + 1)});
      takes_value = equals == std::string::npos;
    } else if (takes_value) {
      settings.back().value = word;
      takes_value = false;
    } else {
      throw ToolError(fmt::format("--baseline: {} is not an option of 'vitrine lower'", word));
    }
  }
  return settings;
}

std::string conflicting_option(const Variant& a, const Variant& b) {
  if ((has_no_backend(a.lowering) && needs_backend(b.lowering)) ||
      (has_no_backend(b.lowering) && needs_backend(a.lowering))) {
    return "--backend";
  }
  const std::string lowering = conflict_of(a.lowering, b.lowering);
  return lowering.empty() ? conflict_of(a.running, b.running) : lowering;
}

Variant merged(Variant base, const Variant& change) {
  merge(change.lowering, base.lowering);
  merge(change.running, base.running);
  return base;
}

std::string value_of(const Settings& settings, std::string_view option) {
  const auto found = std::ranges::find(settings, option, &Setting::option);
  return found == settings.end() ? "" : found->value;
}

std::vector<std::string> words_of(const Settings& settings) {
  std::vector<std::string> words;
  for (const Setting& setting : settings) {
    words.push_back(setting.option);
    if (!setting.value.empty()) words.push_back(setting.value);
  }
  return words;
}

std::string lower_command(const std::filesystem::path& model, const Variant& variant,
                          const std::filesystem::path& program) {
  return fmt::format("vitrine lower {}{} -o {}", shell_word(model.string()),
                     joined(variant.lowering), shell_word(program.string()));
}

std::string run_command(const std::filesystem::path& program, const Variant& variant) {
  return fmt::format("vitrine run {}{}", shell_word(program.string()), joined(variant.running));
}

std::string settings_text(const Variant& variant) {
  const std::string text = joined(variant.lowering) + joined(variant.running);
  return text.empty() ? text : text.substr(1);
}

}  // namespace vitrine::tools
