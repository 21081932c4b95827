// Stores the last advice for a model, so that --apply and --verify use the advice that the user
// saw.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tools/advise/baseline.h"
#include "tools/advise/find_advice.h"

namespace vitrine::tools {

// Returns a path in the folder of default_cache_file(). Each combination of model, method, source,
// baseline, number of threads, inputs, calibration files and device has its own path. Empty if the
// folder is unknown or the model lacks a digest.
std::filesystem::path advice_file(const Context& context);

// Writes the text of advice_json(). Ignores errors.
void store_advice(const std::filesystem::path& file, const std::string& json);

struct StoredAdvice {
  Findings findings;
  std::string date;
};
// Returns nullopt if the file does not exist or does not contain advice.
std::optional<StoredAdvice> stored_advice(const std::filesystem::path& file);

}  // namespace vitrine::tools
