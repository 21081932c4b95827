// Replaces lowering.cc in builds for devices, which cannot lower models.
#include <stdexcept>

#include "test/corpus_check/lowering.h"

namespace vitrine::corpus {

bool lower_case(Case& /*test_case*/, const std::filesystem::path& /*case_folder*/,
                ExportedForm /*form*/, const std::vector<std::string>& /*backends*/,
                const LoweringFlags& /*flags*/, const std::filesystem::path& /*folder*/) {
  throw std::runtime_error("--lower: this build cannot lower models; use a build for a host");
}

}  // namespace vitrine::corpus
