// Lowers the exported models of a case, to run them instead of its program.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "test/corpus_check/case_file.h"

namespace vitrine::corpus {

// The forms of exported models: training IR from torch.export, and decomposed to core ATen.
enum class ExportedForm : uint8_t { kTraining, kCoreAten };

struct LoweringFlags {
  bool fold_constants = false;
  bool external_constants = false;  // always true for cases with external weights
  std::string quantize;             // like pte_lower --quantize; empty: none
  std::string attention = "aten";   // like pte_lower --attention
  std::vector<std::string> backend_options = {};
  bool optimize = false;  // like --optimize; throws if planned memory grows
  bool native = false;    // write the edge dialect as a .ptn first, and lower that
};

// Writes the program and its .ptd files to `folder`, and makes `test_case` use them. Returns false
// if the case lacks an exported model of this form for one of its methods, or if a .ptn file cannot
// express the model. Throws the errors that pte_lower would print.
bool lower_case(Case& test_case, const std::filesystem::path& case_folder, ExportedForm form,
                const std::vector<std::string>& backends, const LoweringFlags& flags,
                const std::filesystem::path& folder);

}  // namespace vitrine::corpus
