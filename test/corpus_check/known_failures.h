// Runs of corpus cases that are known to fail, each with its message and the reason.
//
// Kept in known_failures.json: a list of objects with
//   "cases"     ends of case folders: "ops_portable/maximum__nan"
//   "runs"      what fails: "program" (ExecuTorch's own), "training", "core" (forms lowered here)
//   "machine"   "arm32": fails there alone; left out: everywhere
//   "backends"  as lowered: "none" or names joined by "+"; left out: any
//   "says"      part of the failure
//   "why"       for people
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

// What is run.
struct Run {
  std::filesystem::path folder;  // of the case
  std::string form;              // one of KnownFailure::runs
  std::string backends;          // empty unless lowered here
};

class KnownFailures {
 public:
  // Throws std::runtime_error that names the file and the error.
  static KnownFailures read(const std::filesystem::path& file);
  static KnownFailures parse(std::string_view json, const std::string& source);

  // Null if the run is to pass.
  const KnownFailure* find(const Run& run) const;

 private:
  std::vector<KnownFailure> all_;
};

}  // namespace vitrine::corpus
