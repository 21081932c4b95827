// Stores the last advice for a model, so that --apply and --verify use the advice that the user
// saw.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tools/advise/baseline.h"
#include "tools/advise/find_advice.h"

namespace vitrine::tools {

// Returns the path of the stored advice for this model, method, baseline and number of threads. The
// file is in the folder that stores the machine's limits. Returns an empty path if that folder is
// unknown.
std::filesystem::path advice_file(const Context& context);

// Writes the text of advice_json(). Ignores errors.
void store_advice(const std::filesystem::path& file, const std::string& json);

struct StoredAdvice {
  Findings findings;
  std::string date;
};
// Reads stored advice. Returns nullopt if the file does not exist or does not contain advice.
std::optional<StoredAdvice> stored_advice(const std::filesystem::path& file);

}  // namespace vitrine::tools
