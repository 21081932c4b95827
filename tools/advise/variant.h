// Defines Variant: the options of `vitrine lower` that make a program, and the options of `vitrine
// run` that run it. Variants can be combined and printed as commands.
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
  Settings lowering = {};  // of `vitrine lower`
  Settings running = {};   // of `vitrine run`
  friend bool operator==(const Variant&, const Variant&) = default;
};

// Parses "--backend xnnpack --optimize". Throws ToolError if a word is neither an option nor an
// option's value.
Settings parse_settings(std::string_view text);

// Returns the first option that has different values in the two changes, or an empty string. Two
// values of a repeatable option do not conflict. Options that need a backend, such as --exclude-op,
// conflict with --backend none.
std::string conflicting_option(const Variant& a, const Variant& b);

// Returns the settings of `base` and `change`. If both set --backend or an option that cannot be
// repeated, the result has only the setting of `change`.
Variant merged(Variant base, const Variant& change);

// Returns the value of an option, or an empty string if it is not set.
std::string value_of(const Settings& settings, std::string_view option);

// Returns the settings as the words of a command line.
std::vector<std::string> words_of(const Settings& settings);

// Returns the shell commands that make and run the program.
std::string lower_command(const std::filesystem::path& model, const Variant& variant,
                          const std::filesystem::path& program);
std::string run_command(const std::filesystem::path& program, const Variant& variant);

// Returns the settings as text: "--optimize --threads 1".
std::string settings_text(const Variant& variant);

}  // namespace vitrine::tools
