// A case's exported models, lowered here, in the place of its program.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "test/corpus_check/case_file.h"

namespace vitrine::corpus {

// The forms in which a case has its exported models: as torch.export gives them, and decomposed to
// core ATen.
enum class ExportedForm : uint8_t { kTraining, kCoreAten };

struct LoweringFlags {
  bool fold_constants = false;
  bool external_constants = false;  // cases that have such are always lowered so
  std::string quantise;             // as --quantize of pte_lower; empty: not
  std::string attention = "aten";   // as --attention
  bool optimise = false;            // --optimize; an error if planned memory grows
};

// Writes the program and its .ptd files to `folder` and sets `which` to them. False if the case
// lacks an exported model of that form for some method that it calls. Throws the errors that
// pte_lower would print.
bool lower_case(Case& which, const std::filesystem::path& case_folder, ExportedForm form,
                const std::vector<std::string>& backends, const LoweringFlags& flags,
                const std::filesystem::path& folder);

}  // namespace vitrine::corpus
