// Tests tools with failing system calls on files: open, read, map, write, close, rename. In each
// run, a different call fails. The tool must then report an error that names the file. It must
// leave either the old file or the complete new one, and no other files. Partial reads and writes
// must not cause failures.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "test/support/corpus.h"
#include "test/support/read_text.h"
#include "test/tools/command.h"

namespace vitrine::test {
namespace {

using testing::HasSubstr;
using testing::IsSupersetOf;

constexpr char kOldText[] = "the old file";
// Codes for test/support/io_faults.cc. kShort makes a read or write partial, and kEnd simulates the
// end of the file.
constexpr int kShort = 0;
constexpr int kEnd = -1;

struct Scenario {
  const char* name;
  const char* tool;  // here and in `arguments`, @ is replaced by the folder
  std::string arguments;
  std::map<std::string, std::string> inputs;  // name in the folder -> sample
  std::set<std::string> outputs;
  bool is_atomic = false;  // either all outputs are replaced or none
};
std::ostream& operator<<(std::ostream& out, const Scenario& scenario) {
  return out << scenario.name;
}

struct Call {
  std::string name;  // empty if the tool made fewer calls
  std::filesystem::path path;
};

// Runs the tool of a scenario in a scratch folder. Can make one system call of the tool fail.
class FaultRunner {
 public:
  explicit FaultRunner(const Scenario& scenario) : scenario_(scenario) {
    for (const auto& [name, from] : scenario.inputs) {
      std::filesystem::copy_file(sample(from), folder_ / name);
    }
  }

  CommandResult run() const { return run_tool(with_folder(scenario_.tool), arguments()); }
  // Runs the tool. The n-th system call on files in the folder fails with the error `code`. If
  // `code` is kShort or kEnd, the call reads or writes less data instead of failing. Stores a
  // description of the n-th call in `call`.
  CommandResult run(int n, int code, Call& call) const {
    const ScratchFolder scratch;
    const std::string log = (scratch / "log").string();
    // Without this option, GCC's AddressSanitizer refuses to start after another preloaded library.
    const CommandResult result = run_tool(
        fmt::format("env ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD={} VITRINE_IO_FOLDER={} "
                    "VITRINE_IO_LOG={} VITRINE_IO_FAULT='{} {}' {}",
                    VITRINE_IO_FAULTS, folder(), log, n, code, with_folder(scenario_.tool)),
        arguments());
    const std::string text = read_text(log);
    const size_t path = text.find('/');
    call = {};
    if (path == std::string::npos) return result;
    call = {text.substr(0, path - 1), text.substr(path, text.size() - path - 1)};
    return result;
  }

  void write_old_files() const {
    for (const std::string& name : scenario_.outputs) put(name, kOldText);
  }
  void put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  void remove(const std::string& name) const { std::filesystem::remove(folder_ / name); }
  std::string text(const std::string& name) const { return read_text(folder_ / name); }
  std::set<std::string> files(const char* below = "") const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder() + below)) {
      names.insert(entry.path().filename());
    }
    return names;
  }

 private:
  std::string folder() const { return (folder_ / "").string(); }
  std::string arguments() const { return with_folder(scenario_.arguments); }
  std::string with_folder(std::string text) const {
    for (size_t at = 0; (at = text.find('@')) != std::string::npos;) {
      text.replace(at, 1, folder());
    }
    return text;
  }

  const Scenario& scenario_;
  ScratchFolder folder_;
};

// Returns the file in `files` that a system call concerns. A call on a temporary file concerns the
// final file, whose name is the beginning of the temporary file's name.
std::string file_of(const Call& call, const std::set<std::string>& files) {
  const std::string name = call.path.filename();
  std::string found;
  for (const std::string& file : files) {
    if (name.starts_with(file) && file.size() > found.size()) found = file;
  }
  return found;
}

// True if the file is complete. Traces and reports contain times, so only their structure is
// checked. All other files must equal the expected text.
bool is_complete(const std::string& name, const std::string& text, const std::string& expected) {
  if (name.ends_with(".json")) return nlohmann::json::accept(text);
  if (!name.ends_with(".etdp")) return text == expected;
  uint32_t size = 0;
  if (text.size() >= sizeof size) std::memcpy(&size, text.data(), sizeof size);
  return text.size() == size + sizeof size;
}

class IoFaultTest : public testing::TestWithParam<Scenario> {};

TEST_P(IoFaultTest, FailedSystemCallLeavesOldOrCompleteFiles) {
  const Scenario& scenario = GetParam();
  const FaultRunner faults(scenario);
  faults.write_old_files();
  succeeded(faults.run());
  const std::set<std::string> files = faults.files();
  std::map<std::string, std::string> expected;
  for (const std::string& name : scenario.outputs) {
    expected[name] = faults.text(name);
    ASSERT_NE(expected[name], kOldText) << name;
    ASSERT_TRUE(is_complete(name, expected[name], expected[name])) << name;
  }
  std::set<std::string> calls;
  std::set<std::string> failed;
  for (const int code : {EIO, ENOSPC, EINTR, kShort, kEnd}) {
    int n = 1;
    for (Call call; n == 1 || !call.name.empty(); ++n) {
      faults.write_old_files();
      const CommandResult result = faults.run(n, code, call);
      SCOPED_TRACE(fmt::format("call {} ({} {}) with {}: exit code {}, {}", n, call.name,
                               call.path.string(), code, result.exit_code, result.err));
      calls.insert(call.name);
      const std::string failing = file_of(call, files);
      EXPECT_EQ(faults.files(), files);
      size_t replaced = 0;
      for (const std::string& name : scenario.outputs) {
        const std::string text = faults.text(name);
        if (text == kOldText) continue;
        ++replaced;
        EXPECT_TRUE(is_complete(name, text, expected.at(name))) << name << ": " << text.size();
      }
      const bool is_transfer = call.name == "read" || call.name == "write";
      const bool is_harmless = call.name.empty() || call.name == "close what was read" ||
                               code == kShort || (code == kEnd && call.name != "read") ||
                               (code == EINTR && is_transfer);
      EXPECT_EQ(result.exit_code, is_harmless ? 0 : 1);
      if (is_harmless) {
        EXPECT_EQ(replaced, scenario.outputs.size());
      } else {
        failed.insert(failing);
        EXPECT_THAT(result.err, HasSubstrs(failing, code == kEnd ? "the file is too short"
                                                                 : std::strerror(code)));
      }
      if (scenario.is_atomic && !is_harmless && call.name != "rename") {
        EXPECT_EQ(replaced, 0u);
      }
      if (HasFailure()) return;
    }
    std::cout << scenario.name << ", " << code << ": " << n - 2 << " calls\n";
  }
  EXPECT_THAT(calls, IsSupersetOf({"create", "write", "close", "rename", "open"}));
  EXPECT_EQ(failed, files);  // each file had a call that failed
}

const Scenario kScenarios[] = {
    {"Profiles",
     VITRINE_EXECUTOR_RUNNER,
     "@model.pte --inputs @x --output_file @y --etdump_path @trace.etdp --profile --format json "
     "--output @report.json --cpu_threads 1",
     {{"model.pte", "linear_relu/model.pte"}, {"x", "linear_relu/input_0.bin"}},
     {"y-0.bin", "trace.etdp", "report.json"}},
    {"Values",
     VITRINE_EXECUTOR_RUNNER,
     "@model.pte --inputs @x --etdump_path @trace.etdp --debug_outputs --debug_buffer_path @values "
     "--cpu_threads 1",
     {{"model.pte", "linear_relu/model.pte"}, {"x", "linear_relu/input_0.bin"}},
     {"trace.etdp", "values"},
     true},
    {"OutputsOfVitrineRun",
     VITRINE_RUN,
     "@model.pte --inputs @x --output_file @y --cpu_threads 1",
     {{"model.pte", "linear_relu/model.pte"}, {"x", "linear_relu/input_0.bin"}},
     {"y-0.bin"}},
    {"Programs",
     VITRINE_PTE_LOWER,
     "@model.pt2 -o @lowered.pte --etrecord @record --graphviz @graph --external-constants",
     {{"model.pt2", "linear_relu/model.pt2"}},
     {"lowered.pte", "record", "graph", "_default_external_constant.ptd"},
     true},
    {"Inspections",
     VITRINE_PTE_INSPECT,
     "@trace --etrecord @record --output @report",
     {{"trace", "formats/linear_relu.etdp"}, {"record", "linear_relu/etrecord.bin"}},
     {"report"}},
    {"Tokens",
     VITRINE_LLM_RUNNER,
     "--model_path @model.pte --prompt_ids 1,5 --max_new_tokens 2 --ignore_eos --cpu_threads 1 "
     "--etdump_path @trace.etdp --profile --format json --output @report.json",
     {{"model.pte", "kjv_8da4w/model.pte"}},
     {"trace.etdp", "report.json"}},
};
INSTANTIATE_TEST_SUITE_P(Tools, IoFaultTest, testing::ValuesIn(kScenarios),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(StandardOutputFaultTest, ReportsFullDisk) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "this system lacks /dev/full";
  const ScratchFolder scratch;
  const std::string model = sample("linear_relu/model.pte");
  const std::string commands[] = {
      fmt::format("{} {}", VITRINE_EXECUTOR_RUNNER, model),
      fmt::format("{} {}", VITRINE_RUN, model),
      fmt::format("{} {}", VITRINE_PTE_INSPECT, model),
      fmt::format("{} {} --summary -o {}", VITRINE_PTE_LOWER, sample("linear_relu/model.pt2"),
                  (scratch / "lowered.pte").string()),
      fmt::format("{} --model_path {} --prompt_ids 1,5 --max_new_tokens 2 --ignore_eos",
                  VITRINE_LLM_RUNNER, sample("kjv_8da4w/model.pte")),
  };
  for (const std::string& command : commands) {
    SCOPED_TRACE(command);
    const std::string log = (scratch / "log").string();
    EXPECT_NE(std::system((command + " >/dev/full 2>" + log).c_str()), 0);
    EXPECT_THAT(read_text(log), HasSubstr("standard output: cannot write"));
  }
}

// The program must run even if any system call on its weights cache fails. If the cache cannot be
// written, the tool must print a warning.
TEST(WeightsCacheFaultTest, RunsAndWarnsIfASystemCallFails) {
  const Scenario scenario{"WeightsCache",
                          VITRINE_EXECUTOR_RUNNER,
                          "@model.pte --weights_cache @weights --output_file @y --cpu_threads 1",
                          {{"model.pte", "linear_relu/model.pte"}},
                          {}};
  const FaultRunner faults(scenario);
  ASSERT_EQ(faults.run().exit_code, 0);
  const std::string good = faults.text("weights");
  const std::string expected = faults.text("y-0.bin");
  // The old cache file is valid, missing, or truncated.
  const std::optional<std::string> old_files[] = {good, std::nullopt, good.substr(0, 200)};
  size_t warnings = 0;
  for (const auto& old_file : old_files) {
    for (const int code : {EIO, ENOSPC, kShort, kEnd}) {
      Call call;
      std::vector<std::string> calls;  // on the cache, in order
      for (int n = 1; n == 1 || !call.name.empty(); ++n) {
        old_file ? faults.put("weights", *old_file) : faults.remove("weights");
        const CommandResult result = faults.run(n, code, call);
        SCOPED_TRACE(fmt::format("call {} ({} {}) with {}: exit code {}, {}", n, call.name,
                                 call.path.string(), code, result.exit_code, result.err));
        EXPECT_THAT(std::set<std::string>({"model.pte", "weights", "y-0.bin"}),
                    IsSupersetOf(faults.files()));
        if (!call.path.filename().string().starts_with("weights")) continue;
        calls.push_back(call.name);
        EXPECT_EQ(result.exit_code, 0);
        EXPECT_EQ(faults.text("y-0.bin"), expected);
        const bool has_warned = result.err.find("warning: ") != std::string::npos;
        warnings += has_warned ? 1 : 0;
        if (has_warned) {
          EXPECT_THAT(result.err, HasSubstrs("weights cache: ", "/weights: "));
          EXPECT_EQ(faults.text("weights"), old_file.value_or(""));
        }
        const bool writes = call.name == "create" || call.name == "write" || call.name == "fsync" ||
                            call.name == "close" || call.name == "rename";
        EXPECT_TRUE(has_warned || !writes || code <= 0) << "expected a warning";
        // The next run must use or replace the current cache file.
        EXPECT_THAT(faults.run(), Exits(0, ""));
        EXPECT_EQ(faults.text("y-0.bin"), expected);
        if (HasFailure()) return;
      }
      // The file must be synced to disk before it is renamed.
      const auto named = std::find(calls.begin(), calls.end(), "rename");
      const auto written = std::find(std::reverse_iterator(named), calls.rend(), "write").base();
      EXPECT_EQ(std::count(written, named, "fsync"), named == calls.end() ? 0 : 1);
      EXPECT_TRUE(named != calls.end() || old_file == good);
    }
  }
  std::cout << warnings << " warnings\n";
  EXPECT_GT(warnings, 10u);
}

// Returns a copy of the cache in which every figure is 1. Measured figures are far larger, so the
// test can tell whether a tool used the cache.
std::string with_small_figures(nlohmann::json cache) {
  for (auto& figures : cache.at("machines")) {
    figures = {{"flops_per_s", 1.0}, {"bytes_per_s", 1.0}};
  }
  return cache.dump();
}

// If the cache of the machine's limits is truncated or a call on it fails, executor_runner must
// measure the limits again without a message. Measuring takes a second, so only a few calls are
// made to fail.
TEST(MachineLimitsFaultTest, MeasuresLimitsAgainIfTheCacheIsUnusable) {
  const Scenario scenario{
      "MachineLimits",
      "env XDG_CACHE_HOME=@ " VITRINE_EXECUTOR_RUNNER,
      sample("linear_relu/model.pte") + " --profile --roofline --format json --cpu_threads 1",
      {},
      {}};
  constexpr char kCache[] = "vitrine/machine_limits.json";
  const FaultRunner faults(scenario);
  const auto figure = [](const CommandResult& result, const char* name) {
    return nlohmann::json::parse(result.out).at("machine").value(name, 0.0);
  };
  ASSERT_EQ(faults.run().exit_code, 0);
  const std::string complete_cache = with_small_figures(nlohmann::json::parse(faults.text(kCache)));
  faults.put(kCache, complete_cache);
  EXPECT_EQ(figure(faults.run(), "flops_per_s"), 1);
  const std::string truncated_cache = complete_cache.substr(0, complete_cache.size() - 2);
  const std::pair<int, std::string> calls[] = {{3, "read"}, {6, "write"}, {8, "rename"}};
  for (const auto& [n, name] : calls) {
    faults.put(kCache, truncated_cache);
    Call call;
    const CommandResult result = faults.run(n, ENOSPC, call);
    SCOPED_TRACE(fmt::format("call {} ({} {})", n, call.name, call.path.string()));
    EXPECT_EQ(call.name, name);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    // A measured figure is never 1. It is 0 if the machine was too busy to measure it.
    EXPECT_NE(figure(result, "flops_per_s"), 1);
    EXPECT_NE(figure(result, "bytes_per_s"), 1);
    EXPECT_EQ(faults.files("vitrine"), std::set<std::string>{"machine_limits.json"});
    if (name == "read") {
      EXPECT_TRUE(nlohmann::json::accept(faults.text(kCache)));
    } else {
      EXPECT_EQ(faults.text(kCache), truncated_cache);
    }
  }
}

}  // namespace
}  // namespace vitrine::test
