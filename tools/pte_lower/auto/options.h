#pragma once

#include <string>
#include <vector>

#include "tools/common/command_line.h"
#include "tools/pte_lower/auto/search.h"

namespace vitrine::tools {

inline constexpr size_t kDefaultSamples = 32;  // number of samples to measure with

// The texts of the options. Empty if an option was not given.
struct AutoTexts {
  std::string at_least;
  std::string at_most_bytes;
  std::string at_most_ms;
  std::string accuracy;
  std::string report;
  std::vector<std::string> device_times;
  size_t samples = 0;
};

void add_auto_options(CLI::App& app, AutoTexts& texts);

// True if the command line has an option that needs --quantize auto.
bool has_auto_options(const AutoTexts& texts);

// `arguments` excludes the name of the program. Throws ToolErrors that name the option.
AutoOptions parse_auto_options(const AutoTexts& texts, const std::vector<std::string>& arguments);

}  // namespace vitrine::tools
