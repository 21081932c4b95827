// Reads the list of corpus runs that are known to fail, with their messages and reasons.
//
// known_failures.json is a list of objects with these members:
//   - "cases": last components of case folders, such as "ops_portable/maximum__nan".
//   - "runs": what fails: "program" is the case's program, which ExecuTorch lowered. "training" and
//     "core" are the exported forms of the model, which Vitrine lowers.
//   - "machine": "arm32" if the runs fail only there; absent if they fail everywhere.
//   - "backends": the backends for which Vitrine lowered the model: "none" or names joined by "+";
//     absent if the runs fail with all backends.
//   - "says": a part of the failure's message.
//   - "why": the reason, for readers.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace vitrine::corpus {

struct KnownFailure {
  std::vector<std::string> cases;
  std::vector<std::string> runs;
  std::vector<std::string> backends;
  std::string says;
  std::string why;
};

// A run of a case.
struct Run {
  std::filesystem::path folder;  // folder of the case
  std::string form;              // one of KnownFailure::runs
  std::string backends;          // empty if ExecuTorch lowered the program
};

class KnownFailures {
 public:
  // Throws std::runtime_error that names the file and the error.
  static KnownFailures read(const std::filesystem::path& file);
  static KnownFailures parse(std::string_view json, const std::string& source);

  // Returns the entry for a run; null if the run must pass.
  const KnownFailure* find(const Run& run) const;

 private:
  std::vector<KnownFailure> all_;
};

}  // namespace vitrine::corpus
