// corpus_check runs cases of the corpus and prints one line per case.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <utility>

#include "test/corpus_check/capture.h"
#include "test/corpus_check/case_runner.h"
#include "test/corpus_check/known_failures.h"
#include "test/corpus_check/lowering.h"
#include "test/support/corpus.h"
#include "test/support/scratch_folder.h"

namespace {

namespace fs = std::filesystem;
using vitrine::corpus::CaseResult;

// A path can begin with one of these prefixes. Each prefix represents a folder.
struct Prefix {
  std::string_view text;
  fs::path (*folder)();
  const char* variable;
};
constexpr Prefix kPrefixes[] = {
    {"corpus:", vitrine::test::corpus_dir, "VITRINE_CORPUS"},
    {"corpus_llm:", vitrine::test::corpus_llm_dir, "VITRINE_CORPUS_LLM"},
    {"corpus_15:", vitrine::test::corpus_15_dir, "VITRINE_CORPUS_15"},
};

constexpr int kNothingToRun = 77;  // exit code for "skipped" in ctest

// If the folder is a case, appends it. Otherwise, appends the cases in the folder in sorted order.
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

// Prints one line per case, and counts passes and failures. Runs that are known to fail must fail
// with the listed message.
class Tally {
 public:
  explicit Tally(vitrine::corpus::KnownFailures known) : known_(std::move(known)) {}

  void add(const std::string& name, const vitrine::corpus::Run& run, const CaseResult& result) {
    const vitrine::corpus::KnownFailure* known = known_.find(run);
    Verdict verdict = verdict_of(result.status);
    std::string remark = result.reason;
    if (known != nullptr && verdict == kPass) {
      verdict = kFail;
      remark = "the case passes; remove its entry from known_failures.json";
    } else if (known != nullptr && verdict == kFail &&
               result.reason.find(known->says) != std::string::npos) {
      verdict = kKnown;
      remark = fmt::format("{} ({})", result.reason, known->why);
    }
    constexpr std::array kNames = {"pass", "FAIL", "skip", "know"};
    fmt::print("{} {:<40} abs {:<9.3g} rel {:<9.3g} {}\n", kNames[verdict], name, result.max_abs,
               result.max_rel, remark);
    ++counts_[verdict];
  }
  // Prints the counts and returns the exit code.
  int finish() const {
    fmt::print("{} passed, {} failed, {} skipped, {} known failures\n", counts_[kPass],
               counts_[kFail], counts_[kSkip], counts_[kKnown]);
    return counts_[kFail] == 0 && counts_[kPass] + counts_[kKnown] > 0 ? 0 : 1;
  }

 private:
  enum Verdict : uint8_t { kPass, kFail, kSkip, kKnown };

  static Verdict verdict_of(CaseResult::Status status) {
    if (status == CaseResult::Status::kPassed) return kPass;
    return status == CaseResult::Status::kFailed ? kFail : kSkip;
  }

  vitrine::corpus::KnownFailures known_;
  std::array<size_t, 4> counts_{};  // by Verdict
};

// Runs a case once. With a weights cache, runs it twice: first with a new cache file, then with the
// file that the first run wrote.
CaseResult run(const vitrine::corpus::Case& test_case, vitrine::corpus::RunOptions options,
               bool with_weights_cache, bool with_capture) {
  if (with_capture) return vitrine::corpus::check_capture(test_case, options);
  if (!with_weights_cache) return vitrine::corpus::run_case(test_case, options);
  const vitrine::test::ScratchFolder folder;
  const std::string path = (folder / "weights").string();
  const vitrine::BackendOption option{"XnnpackBackend", "packed_cache_path", path};
  options.backend_options = {option};
  const CaseResult cold = vitrine::corpus::run_case(test_case, options);
  if (cold.status != CaseResult::Status::kPassed) return cold;
  return vitrine::corpus::run_case(test_case, options);
}

// Lowers both forms of the case's exported models and runs each.
void run_lowered(const fs::path& folder, const std::vector<std::string>& backends,
                 const vitrine::corpus::LoweringFlags& flags,
                 const vitrine::corpus::RunOptions& options, Tally& tally) {
  using vitrine::corpus::ExportedForm;
  struct NamedForm {
    ExportedForm form;
    const char* name;
    const char* suffix;
  };
  constexpr std::array kForms = {NamedForm{ExportedForm::kTraining, "training", ""},
                                 NamedForm{ExportedForm::kCoreAten, "core", " core"}};
  const std::string used = backends.empty() ? "none" : fmt::format("{}", fmt::join(backends, "+"));
  for (const auto& [form, form_name, suffix] : kForms) {
    CaseResult result;
    const vitrine::test::ScratchFolder scratch;
    try {
      vitrine::corpus::Case test_case = vitrine::corpus::read_case(folder);
      if (!vitrine::corpus::lower_case(test_case, folder, form, backends, flags, scratch / ""))
        continue;
      result = vitrine::corpus::run_case(test_case, options);
    } catch (const std::exception& error) {
      result.status = CaseResult::Status::kFailed;
      result.reason = error.what();
    }
    tally.add(folder.filename().string() + suffix, {folder, form_name, used}, result);
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
                 "and corpus_llm:NAME in "
                 "$VITRINE_CORPUS_LLM")
      ->required();
  app.add_option("--except", except, "names of cases to skip")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--cpu_threads", options.threads,
                 "number of threads; 0: number of performance cores");
  bool portable = false;
  app.add_flag("--portable", portable, "do not use optimized kernels");
  bool weights_cache = false;
  app.add_flag("--weights_cache", weights_cache,
               "run each case twice: with a new weights cache file, and with the written file");
  bool capture = false;
  app.add_flag("--capture", capture,
               "also run each case with values of operators in full, and summarized: outputs must "
               "be equal, and each operator must have a value");
  bool lower = false;
  app.add_flag("--lower", lower, "lower the exported models of cases and run them");
  std::vector<std::string> backends;
  app.add_option("--backend", backends, "backend for --lower; repeatable")->allow_extra_args(false);
  vitrine::corpus::LoweringFlags flags;
  app.add_flag("--fold_constants", flags.fold_constants,
               "passed to --lower, like the option of pte_lower");
  app.add_flag("--optimize", flags.optimize, "passed to --lower; planned memory must not grow");
  app.add_option("--backend-option", flags.backend_options, "passed to --lower");
  app.add_option("--attention", flags.attention, "passed to --lower")
      ->check(CLI::IsMember({"aten", "custom_sdpa", "auto"}));
  app.add_flag("--external_constants", flags.external_constants, "passed to --lower");
  app.add_flag("--native", flags.native,
               "with --lower, write each model as a .ptn first; skips what the format lacks");
  CLI11_PARSE(app, argc, argv);

  options.optimized_kernels = !portable;
  std::vector<fs::path> folders;
  for (const std::string& given : paths) {
    const auto* prefix = std::ranges::find_if(
        kPrefixes, [&](const Prefix& candidate) { return given.starts_with(candidate.text); });
    if (prefix == std::end(kPrefixes)) {
      if (!fs::is_directory(given)) {
        fmt::print(stderr, "corpus_check: {} is not a folder\n", given);
        return 1;
      }
      collect(given, folders);
      continue;
    }
    const fs::path corpus = prefix->folder();
    if (corpus.empty()) {
      fmt::print("{}: the corpus is missing; set {}\n", given, prefix->variable);
      return kNothingToRun;
    }
    collect(corpus / given.substr(prefix->text.size()), folders);
  }
  const std::set<std::string> excluded(except.begin(), except.end());
  Tally tally(vitrine::corpus::KnownFailures::read(VITRINE_KNOWN_FAILURES));
  for (const fs::path& folder : folders) {
    const std::string name = folder.filename().string();
    if (excluded.contains(name)) continue;
    if (lower) {
      run_lowered(folder, backends, flags, options, tally);
      continue;
    }
    CaseResult result;
    try {
      result = run(vitrine::corpus::read_case(folder), options, weights_cache, capture);
    } catch (const std::exception& error) {
      result.status = CaseResult::Status::kFailed;
      result.reason = error.what();
    }
    tally.add(name, {folder, "program", ""}, result);
  }
  return tally.finish();
}
