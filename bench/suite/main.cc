// The tool `bench` runs the benchmark suite (docs/benchmarks.md).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "bench/report/compare.h"
#include "bench/suite/choices.h"
#include "bench/suite/facts.h"
#include "bench/suite/new_process.h"
#include "bench/suite/pinning.h"
#include "bench/suite/section.h"
#include "test/support/corpus.h"
#include "test/support/scratch_folder.h"
#include "tools/common/command_line.h"
#include "tools/common/files.h"
#include "tools/common/tool_error.h"

namespace vitrine::bench {
namespace {

namespace fs = std::filesystem;

struct SectionRow {
  const char* name;
  void (*add)(Suite&);
};
constexpr std::array<SectionRow, 3> kSections = {
    {{"models", add_models}, {"operators", add_operators}, {"runtime", add_runtime}}};

constexpr const char* kExtentNames[] = {"check", "short", "full"};

struct CommandLine {
  SuiteOptions suite;
  fs::path out = "bench.json";
  fs::path choices;                          // the table of choices to write; empty: none
  std::vector<size_t> cpus;                  // the CPUs to run on; empty: all
  fs::path a, b;                             // the results of `compare`
  double bound = 1.1;                        // an option of `compare`
  std::string start_program, start_kernels;  // arguments of `start`
  size_t start_threads = 1;
};

// Returns the default numbers of threads. A check uses 1 and 2 threads. A short run uses 1 thread,
// and one thread per performance core. A full run also uses 2 and 4 threads if the machine has more
// performance cores.
std::vector<size_t> default_threads(Extent extent) {
  if (extent == Extent::kCheck) return {1, 2};
  const size_t all = performing_core_count();
  std::vector<size_t> threads = {1};
  for (const size_t count : {size_t{2}, size_t{4}}) {
    if (extent == Extent::kFull && count < all) threads.push_back(count);
  }
  if (all > 1) threads.push_back(all);
  return threads;
}

// Prints a summary of the results. Returns the exit code.
int print_summary(const Results& results, const fs::path& out, bool is_check) {
  if (!is_check) {
    fmt::print("{} figures in {}\n", results.results.size(), out.string());
    return 0;
  }
  const auto compared = std::ranges::count_if(
      results.results, [](const Result& each) { return each.variant != "portable"; });
  fmt::print("{} outputs compared with those of the portable kernels", compared);
  for (const Result& each : results.results) {
    if (!each.note.empty()) fmt::print("\n{}: {}", each.id(), each.note);
  }
  const bool agrees =
      std::ranges::all_of(results.results, [](const Result& each) { return each.note.empty(); });
  fmt::print("{}; counts: {}\n", agrees ? ": all agree" : "", out.string());
  return agrees ? 0 : 2;
}

int run_suite(const CommandLine& line) {
  tools::NewFile(fs::path(line.out));  // fails early if the folder is not writable
  const std::string pinned = line.cpus.empty() ? "" : pin_to(line.cpus);
  SuiteOptions options = line.suite;
  if (options.threads.empty()) options.threads = default_threads(options.extent);
  std::ranges::sort(options.threads);
  if (!options.files.empty() && options.sections.empty()) options.sections = {"models"};
  options.corpus = test::corpus_dir();
  const test::ScratchFolder scratch;
  Suite suite{.options = options, .scratch = scratch / "", .pools = {}};
  suite.results.facts = run_facts();
  suite.results.facts["mode"] = kExtentNames[static_cast<size_t>(options.extent)];
  if (!pinned.empty()) suite.results.facts["pinned"] = pinned;
  for (const size_t threads : options.threads) {
    suite.pools[threads] =
        std::shared_ptr<ThreadPool>(tools::check(ThreadPool::create(threads)).release());
  }
  if (!options.is_check()) add_limits(suite);
  for (const SectionRow& section : kSections) {
    const bool is_wanted =
        options.sections.empty() ||
        std::ranges::find(options.sections, section.name) != options.sections.end();
    if (is_wanted) section.add(suite);
  }
  suite.progress.run();
  tools::write_file(line.out, results_json(suite.results));
  return print_summary(suite.results, line.out, options.is_check());
}

void describe(CLI::App& app, CommandLine& line) {
  app.add_option("--out", line.out,
                 "file for the results (JSON); bench/page.py makes a page from it")
      ->capture_default_str()
      ->type_name("FILE");
  auto* const shorter = app.add_flag_callback(
      "--short", [&] { line.suite.extent = Extent::kShort; },
      "measures fewer sizes with fewer runs, in less than three minutes");
  app.add_flag_callback(
         "--check", [&] { line.suite.extent = Extent::kCheck; },
         "runs each variant once without timing and compares its outputs; exit code 2 if outputs "
         "differ")
      ->excludes(shorter);
  app.add_option("--model", line.suite.files, "measures only these models: .pte or .pt2 files")
      ->check(CLI::ExistingFile.description(""))
      ->type_name("FILES");
  std::vector<std::string> names;
  for (const SectionRow& section : kSections) names.emplace_back(section.name);
  app.add_option("--section", line.suite.sections,
                 "sections to run: models, operators, runtime (default: all; with --model: models)")
      ->check(CLI::IsMember(names).description(""))
      ->delimiter(',')
      ->type_name("NAMES");
  app.add_option("--filter", line.suite.filter,
                 "runs only models and operators whose names contain TEXT")
      ->type_name("TEXT");
  app.add_option("--threads", line.suite.threads, "numbers of threads (default: 1, 2, 4 and all)")
      ->check(CLI::Range(size_t{1}, size_t{1024}).description(""))
      ->delimiter(',')
      ->type_name("N");
  app.add_option("--choices", line.choices,
                 "only compares Vitrine's kernels with XNNPACK's in delegates, and writes the "
                 "table of choices to FILE (docs/xnnpack.md)")
      ->type_name("FILE");
  app.add_option("--pin", line.cpus, "runs only on these CPUs, such as 0,2")
      ->check(CLI::Range(size_t{0}, size_t{1023}).description(""))
      ->delimiter(',')
      ->type_name("CPUS");
}

// Runs the subcommand, --choices or the suite. Returns the exit code.
int dispatch(const CLI::App& app, const CommandLine& line) {
  if (app.got_subcommand("compare")) return compare_files(line.a, line.b, line.bound);
  if (app.got_subcommand("start")) {
    return print_start(line.start_program, line.start_kernels == "optimized", line.start_threads);
  }
  if (!line.choices.empty()) {
    if (!line.cpus.empty()) pin_to(line.cpus);
    const test::ScratchFolder scratch;
    measure_choices(line.choices, scratch / "", line.suite.is_check());
    return 0;
  }
  return run_suite(line);
}

int run(int argc, char** argv) {
  CommandLine line;
  CLI::App app("Measures models, operators and the runtime of this build.", "bench");
  describe(app, line);
  app.require_subcommand(0, 1);
  CLI::App* compare = app.add_subcommand(
      "compare", "compares two results files; exit code 2 if a figure of B is worse");
  compare->add_option("A", line.a, "results before")->required()->check(CLI::ExistingFile);
  compare->add_option("B", line.b, "results after")->required()->check(CLI::ExistingFile);
  compare
      ->add_option("--bound", line.bound,
                   "a figure of B is worse if B's time divided by A's time exceeds this ratio, "
                   "and the change is not noise")
      ->check(tools::positive())
      ->capture_default_str();
  CLI::App* start =
      app.add_subcommand("start", "")->group("");  // runs in the new processes of measure_start
  start->add_option("program", line.start_program)->required();
  start->add_option("kernels", line.start_kernels)->required();
  start->add_option("threads", line.start_threads)->required();
  int exit_code = 0;
  if (!tools::parse_command_line(
          app, argc, argv, [] {}, &exit_code))
    return exit_code;
  return dispatch(app, line);
}

}  // namespace
}  // namespace vitrine::bench

int main(int argc, char** argv) {
  return vitrine::tools::run_tool("bench", [&] { return vitrine::bench::run(argc, argv); });
}
