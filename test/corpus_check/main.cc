// corpus_check: runs cases of the corpus and prints a line a case.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "test/corpus_check/case_runner.h"
#include "test/corpus_check/lowering.h"
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

// Prints a line a case and counts.
class Tally {
 public:
  void add(const std::string& name, const CaseResult& result) {
    fmt::print("{} {:<40} abs {:<9.3g} rel {:<9.3g} {}\n", status_name(result.status), name,
               result.max_abs, result.max_rel, result.reason);
    ++counts_[static_cast<size_t>(result.status)];
  }
  // What the program ends with.
  int finish() const {
    fmt::print("{} passed, {} failed, {} skipped\n", counts_[0], counts_[1], counts_[2]);
    return counts_[1] == 0 && counts_[0] > 0 ? 0 : 1;
  }

 private:
  std::array<size_t, 3> counts_{};  // by CaseResult::Status
};

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

// Lowers both forms of the case's exported models and runs each.
void run_lowered(const fs::path& folder, const std::vector<std::string>& backends,
                 const vitrine::corpus::RunOptions& options, Tally& tally) {
  using vitrine::corpus::ExportedForm;
  constexpr std::array kForms = {std::pair(ExportedForm::kTraining, ""),
                                 std::pair(ExportedForm::kCoreAten, " core")};
  for (const auto& [form, suffix] : kForms) {
    CaseResult result;
    const vitrine::test::ScratchFolder scratch;
    try {
      vitrine::corpus::Case which = vitrine::corpus::read_case(folder);
      if (!vitrine::corpus::lower_case(which, folder, form, backends, scratch / "")) continue;
      result = vitrine::corpus::run_case(which, options);
    } catch (const std::exception& error) {
      result.status = CaseResult::Status::kFailed;
      result.reason = error.what();
    }
    tally.add(folder.filename().string() + suffix, result);
  }
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
  bool lower = false;
  app.add_flag("--lower", lower, "lower the cases' exported models here and run these");
  std::vector<std::string> backends;
  app.add_option("--backend", backends, "of --lower; repeatable")->allow_extra_args(false);
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
  Tally tally;
  for (const fs::path& folder : folders) {
    const std::string name = folder.filename().string();
    if (left_out.contains(name)) continue;
    if (lower) {
      run_lowered(folder, backends, options, tally);
      continue;
    }
    CaseResult result;
    try {
      result = run(vitrine::corpus::read_case(folder), options, weights_cache);
    } catch (const std::exception& error) {
      result.status = CaseResult::Status::kFailed;
      result.reason = error.what();
    }
    tally.add(name, result);
  }
  return tally.finish();
}
