// A Variant has the options of `vitrine lower` that make a program, and the options of `vitrine
// run` that run it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace vitrine::tools {

struct Setting {
  std::string option;  // "--backend"
  std::string value;   // empty for a flag
  friend bool operator==(const Setting&, const Setting&) = default;
};
using Settings = std::vector<Setting>;

struct Variant {
  Settings lowering = {};  // options of `vitrine lower`
  Settings running = {};   // options of `vitrine run`
  friend bool operator==(const Variant&, const Variant&) = default;
};

// Parses "--backend xnnpack --optimize". Throws ToolError if a word is neither an option nor
// an option's value.
Settings parse_settings(std::string_view text);

// Returns the first option with different values in both changes, or an empty string. Values of a
// repeatable option do not conflict. Options that need a backend conflict with --backend none.
std::string conflicting_option(const Variant& a, const Variant& b);

// Returns the settings of `base` and `change`. `change` wins for --backend and for options that
// cannot be repeated.
Variant merged(Variant base, const Variant& change);

// Returns the value of an option, or an empty string if it is not set.
std::string value_of(const Settings& settings, std::string_view option);

std::vector<std::string> words_of(const Settings& settings);

std::string lower_command(const std::filesystem::path& model, const Variant& variant,
                          const std::filesystem::path& program);
std::string run_command(const std::filesystem::path& program, const Variant& variant);

// Formats the settings: "--optimize --threads 1".
std::string settings_text(const Variant& variant);

}  // namespace vitrine::tools
