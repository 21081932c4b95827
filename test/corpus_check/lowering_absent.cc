// Builds for devices: models are lowered on hosts.
#include <stdexcept>

#include "test/corpus_check/lowering.h"

namespace vitrine::corpus {

bool lower_case(Case& /*which*/, const std::filesystem::path& /*case_folder*/,
                ExportedForm /*form*/, const std::vector<std::string>& /*backends*/,
                const LoweringFlags& /*flags*/, const std::filesystem::path& /*folder*/) {
  throw std::runtime_error("--lower: this build has no ahead-of-time half");
}

}  // namespace vitrine::corpus
