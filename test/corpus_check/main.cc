// corpus_check: runs cases of the corpus and prints a line a case.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <set>

#include "test/corpus_check/case_runner.h"
#include "test/support/corpus.h"
#include "test/support/scratch_folder.h"

namespace {

namespace fs = std::filesystem;
using vitrine::corpus::CaseResult;

constexpr std::string_view kCorpusPrefix = "corpus:";
constexpr int kNothingToRun = 77;  // what ctest takes as "skipped"

// A case folder itself, or the case folders in it, sorted.
void collect(const fs::path& path, std::vector<fs::path>& folders) {
  if (fs::exists(path / "case.json")) {
    folders.push_back(path);
    return;
  }
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (fs::exists(entry.path() / "case.json")) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  folders.insert(folders.end(), found.begin(), found.end());
}

const char* status_name(CaseResult::Status status) {
  switch (status) {
    case CaseResult::Status::kPassed:
      return "pass";
    case CaseResult::Status::kFailed:
      return "FAIL";
    default:
      return "skip";
  }
}

// Once as it is; or twice, with a new file of packed weights and with what the first run left
// there.
CaseResult run(const vitrine::corpus::Case& which, vitrine::corpus::RunOptions options,
               bool with_weights_cache) {
  if (!with_weights_cache) return vitrine::corpus::run_case(which, options);
  const vitrine::test::ScratchFolder folder;
  const std::string path = (folder / "weights").string();
  const vitrine::BackendOption option{"XnnpackBackend", "packed_cache_path", path};
  options.backend_options = {&option, 1};
  const CaseResult cold = vitrine::corpus::run_case(which, options);
  if (cold.status != CaseResult::Status::kPassed) return cold;
  return vitrine::corpus::run_case(which, options);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs corpus cases and compares their outputs with PyTorch's.");
  std::vector<std::string> paths;
  std::vector<std::string> except;
  vitrine::corpus::RunOptions options;
  app.add_option("path", paths,
                 "case folders, or folders of case folders; corpus:NAME is in $VITRINE_CORPUS "
                 "(default: ../shared/corpus beside the source)")
      ->required();
  app.add_option("--except", except, "names of cases to leave out")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--cpu_threads", options.threads, "threads; 0: as many as performing cores");
  bool portable = false;
  app.add_flag("--portable", portable, "leave the optimised kernels out");
  bool weights_cache = false;
  app.add_flag("--weights_cache", weights_cache,
               "run each case twice: with a new file of packed weights, and with that file");
  CLI11_PARSE(app, argc, argv);

  options.optimized_kernels = !portable;
  const fs::path corpus = vitrine::test::corpus_dir();
  std::vector<fs::path> folders;
  for (const std::string& given : paths) {
    const bool in_corpus = given.starts_with(kCorpusPrefix);
    if (in_corpus && corpus.empty()) {
      fmt::print("{}: no corpus; set VITRINE_CORPUS\n", given);
      return kNothingToRun;
    }
    collect(in_corpus ? corpus / given.substr(kCorpusPrefix.size()) : fs::path(given), folders);
  }
  const std::set<std::string> left_out(except.begin(), except.end());
  size_t passed = 0;
  size_t failed = 0;
  size_t skipped = 0;
  for (const fs::path& folder : folders) {
    const std::string name = folder.filename().string();
    if (left_out.contains(name)) continue;
    CaseResult result;
    try {
      result = run(vitrine::corpus::read_case(folder), options, weights_cache);
    } catch (const std::exception& error) {
      result.status = CaseResult::Status::kFailed;
      result.reason = error.what();
    }
    fmt::print("{} {:<40} abs {:<9.3g} rel {:<9.3g} {}\n", status_name(result.status), name,
               result.max_abs, result.max_rel, result.reason);
    passed += result.status == CaseResult::Status::kPassed ? 1 : 0;
    failed += result.status == CaseResult::Status::kFailed ? 1 : 0;
    skipped += result.status == CaseResult::Status::kSkipped ? 1 : 0;
  }
  fmt::print("{} passed, {} failed, {} skipped\n", passed, failed, skipped);
  return failed == 0 && passed > 0 ? 0 : 1;
}
