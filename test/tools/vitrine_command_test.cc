// Tests the command `vitrine`: its subcommands, --version, exit codes, symbolic links named like
// the tools, and error messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "test/support/corpus.h"
#include "test/support/read_text.h"
#include "test/tools/command.h"
#include "test/tools/npy_file.h"
#include "tools/common/files.h"

namespace vitrine::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

CommandResult vitrine(const std::string& arguments) { return run_tool(VITRINE_COMMAND, arguments); }

const std::string kModel = "add_mul/model.pte";
const std::string kExported = "linear_relu/model.pt2";

// Options with an input and the expected output of the model kExported.
const std::string kVerification = " --inputs " + sample("linear_relu/input_0.bin") +
                                  " --expected_output " + sample("linear_relu/expected_0.bin");

constexpr const char* kTools[] = {VITRINE_EXECUTOR_RUNNER, VITRINE_LLM_RUNNER, VITRINE_PTE_INSPECT,
                                  VITRINE_PTE_LOWER, VITRINE_RUN};

TEST(VitrineCommand, RunsAndProfilesPrograms) {
  EXPECT_THAT(vitrine("run " + sample(kModel)), Prints(StartsWith("output 0: f32[2,3]")));
  EXPECT_THAT(vitrine("profile --executions 2 " + sample(kModel)),
              Prints(HasSubstrs("aten", "unattributed")));
}

TEST(VitrineCommand, LowersInspectsAndVerifies) {
  const ScratchFolder scratch;
  const std::string program = (scratch / "m.pte").string();
  succeeded(vitrine("lower " + sample(kExported) + " -o " + program));
  EXPECT_THAT(vitrine("inspect " + program).out, HasSubstr("program (.pte)"));
  succeeded(vitrine("verify " + program + kVerification));
}

TEST(VitrineCommand, LowersExportedModelsInMemory) {
  EXPECT_THAT(vitrine("verify " + sample(kExported) + kVerification),
              Exits(0, HasSubstr("model.pt2: lowered for XnnpackBackend in memory in ")));
  EXPECT_THAT(vitrine("profile --executions 2 " + sample(kExported)), Prints(HasSubstr("linear")));
}

TEST(VitrineCommand, RefusesReplacementDelegatesOfAnotherModel) {
  EXPECT_THAT(
      vitrine("run " + sample("formats/vulkan_conv_relu_linear.pte") + " --replace_delegates " +
              sample(kExported)),
      Exits(1,
            HasSubstr("--replace_delegates: the replacement is another model: input 0 is f32[")));
}

TEST(VitrineCommand, ReplacesDelegatesOfMissingBackends) {
  const std::filesystem::path folder = corpus_foreign_dir() / "vk_conv_relu_linear";
  if (corpus_foreign_dir().empty()) GTEST_SKIP() << "needs the corpus: set VITRINE_CORPUS_FOREIGN";
  const auto file = [&](const char* name) { return (folder / name).string(); };
  EXPECT_THAT(vitrine("run " + file("model.pte")),
              Exits(1, HasSubstr("--replace_delegates MODEL.pt2")));
  EXPECT_THAT(vitrine("verify " + file("model.pte") + " --replace_delegates " + file("model.pt2") +
                      " --inputs " + file("input_0.bin") + " --expected_output " +
                      file("expected_0.bin") + " --rtol 1e-3 --atol 1e-3"),
              Exits(0, HasSubstrs("delegate 0: VulkanBackend: Vulkan graph, ",
                                  "delegate 0: XnnpackBackend: ")));
}

// Strips a lowered program, and compares it with the same model lowered without debug maps.
TEST(VitrineCommand, StripRemovesTheRecordAndNothingElse) {
  const ScratchFolder scratch;
  const auto path = [&](const char* name) { return (scratch / name).string(); };
  const std::string lower = "lower " + sample(kExported) + " --backend xnnpack -o ";
  succeeded(vitrine(lower + path("whole.pte")));
  succeeded(vitrine(lower + path("plain.pte") + " --no-debug-maps"));
  EXPECT_THAT(vitrine("strip " + path("whole.pte") + " -o " + path("small.pte") + " --etrecord " +
                      path("whole.etrecord")),
              Exits(0, HasSubstr("removed a record of")));
  // The sizes differ slightly, because the stripped program keeps the digest of the record and the
  // entries that refer to the record.
  const auto size_of = [&](const char* name) { return std::filesystem::file_size(path(name)); };
  EXPECT_LT(size_of("small.pte"), size_of("plain.pte") + 512);
  EXPECT_LT(size_of("small.pte") + size_of("whole.etrecord"), size_of("whole.pte") + 256);

  const std::string input = " --inputs " + sample("linear_relu/input_0.bin");
  std::vector<std::string> outputs;
  for (const char* name : {"whole.pte", "small.pte", "plain.pte"}) {
    succeeded(vitrine("run " + path(name) + input + " --output_file " + path("out")));
    outputs.push_back(read_text(path("out-0.bin")));
  }
  EXPECT_FALSE(outputs[0].empty());
  EXPECT_EQ(outputs[1], outputs[0]);
  EXPECT_EQ(outputs[2], outputs[0]);

  // The profile names the linear layer only if the separate record is given. The record of another
  // model is refused.
  const std::string profile = "profile --executions 2 " + path("small.pte");
  EXPECT_THAT(vitrine(profile).out, Not(HasSubstr("linear")));
  EXPECT_THAT(vitrine(profile + " --etrecord " + path("whole.etrecord")).out,
              AllOf(HasSubstr("linear"), Not(HasSubstr("may not be the record"))));
  EXPECT_EQ(vitrine(profile + " --etrecord " + sample("add_mul/etrecord.bin")).exit_code, 1);

  // The stripped program does not contain a record, so a second strip changes nothing.
  EXPECT_THAT(vitrine("strip " + path("small.pte") + " -o " + path("again.pte")),
              Exits(0, HasSubstr("does not contain a record")));
  EXPECT_EQ(read_text(path("again.pte")), read_text(path("small.pte")));
}

TEST(VitrineCommand, StripRefusesWrongInputsAndOutputs) {
  const ScratchFolder scratch;
  const std::string output = " -o " + (scratch / "out.pte").string();
  EXPECT_THAT(vitrine("strip " + sample(kExported) + output),
              Exits(1, HasSubstr("exported model (.pt2)")));
  EXPECT_EQ(vitrine("strip " + sample(kModel) + " -o " + sample(kModel)).exit_code, 1);
  EXPECT_EQ(vitrine("strip " + sample(kModel)).exit_code, 64);
}

TEST(VitrineCommand, ComparesPrograms) {
  EXPECT_THAT(vitrine("compare " + sample(kModel) + " " + sample(kModel) + " --executions 3"),
              Prints(HasSubstr("B/A")));
  EXPECT_THAT(vitrine("compare " + sample(kModel) + " " + sample(kModel) + " --debug_outputs"),
              Prints(HasSubstr("SQNR")));
}

TEST(VitrineCommand, ComparesTracesAndTokenProfiles) {
  const ScratchFolder scratch;
  const std::string trace = (scratch / "t.etdp").string();
  succeeded(vitrine("run --etdump_path " + trace + " --executions 3 " + sample(kModel)));
  EXPECT_THAT(vitrine("compare " + trace + " " + trace), Prints(HasSubstr("B/A")));

  const std::string tokens = (scratch / "t.json").string();
  const std::string folder = sample("kjv_8da4w");
  succeeded(vitrine("chat " + folder + "/model.pte --tokenizer " + folder +
                    "/tokenizer.model --prompt God --max_new_tokens 8 --profile " +
                    "--ignore_eos -o " + tokens));
  succeeded(vitrine("compare " + tokens + " " + tokens));
}

TEST(VitrineCommand, ChatDoesNotRequireAPrompt) {
  const std::string folder = sample("kjv_8da4w");
  EXPECT_THAT(
      run_tool("echo God | " VITRINE_COMMAND, "chat " + folder + "/model.pte --tokenizer " +
                                                  folder + "/tokenizer.model --max_new_tokens 4"),
      Prints(HasSubstr("PyTorchObserver")));
}

TEST(VitrineCommand, ComparesStoredProfiles) {
  const ScratchFolder scratch;
  const std::string stored = (scratch / "old.json").string();
  const std::string model = sample(kModel);
  succeeded(vitrine("profile --executions 8 " + model + " -o " + stored));
  EXPECT_THAT(vitrine("compare " + stored + " " + stored), Prints(HasSubstr("B/A 1.00")));
  EXPECT_THAT(vitrine("compare " + stored + " " + model + " --executions 8 --fail_above 0.0001"),
              Exits(2, testing::_, HasSubstr("A  model.pte")));
  EXPECT_EQ(vitrine("compare " + model + " " + stored).exit_code, 64);
  succeeded(vitrine("compare " + stored + " " + stored + " -o " + (scratch / "c.csv").string()));
  EXPECT_THAT(read_text(scratch / "c.csv"), StartsWith("op,module,"));
  EXPECT_THAT(vitrine("compare " + model + " " + model + " --executions 3 --format html"),
              Prints(StartsWith("<!doctype html>")));
}

TEST(Tools, WarnIfTheFilterMatchesNothing) {
  EXPECT_THAT(vitrine("profile --filter zzz " + sample(kModel)),
              Exits(0, HasSubstr("warning: --filter zzz matches no row")));
  EXPECT_EQ(vitrine("profile --filter add " + sample(kModel)).err, "");
}

TEST(VitrineCommand, ErrorsNameTheSubcommand) {
  EXPECT_THAT(vitrine("profile nowhere.pte"), Exits(1, StartsWith("vitrine profile: error: ")));
  EXPECT_THAT(vitrine("lower --help").out, HasSubstr("vitrine lower [OPTIONS]"));
}

TEST(VitrineCommand, SuggestsCommands) {
  EXPECT_THAT(vitrine("profil " + sample(kModel)),
              Exits(64, HasSubstr("profil is not a command; did you mean profile?")));
  EXPECT_THAT(vitrine(sample(kModel)),
              Exits(64, HasSubstr("is a file: expected a command before it")));
  EXPECT_EQ(vitrine("").exit_code, 64);
  EXPECT_EQ(vitrine("compare a.pte").exit_code, 64);
}

TEST(VitrineCommand, ActsAsTheToolNamedByASymbolicLink) {
  const ScratchFolder scratch;
  const std::string link = (scratch / "executor_runner").string();
  std::filesystem::create_symlink(VITRINE_COMMAND, link);
  EXPECT_THAT(run_tool(link, "--profile " + sample(kModel)), Prints(HasSubstr("unattributed")));
  EXPECT_THAT(run_tool(link, "nowhere.pte").err, StartsWith("executor_runner: error: "));
}

TEST(Tools, PrintTheVersion) {
  const std::string expected = vitrine("--version").out;
  EXPECT_THAT(expected,
              testing::MatchesRegex("vitrine [0-9.]+\n(commit [^\n]*\n)?XNNPACK [0-9a-f]+\n"));
  for (const char* tool : kTools) {
    EXPECT_THAT(run_tool(tool, "--version"), Prints(expected)) << tool;
  }
}

TEST(Tools, ReturnExitCode64ForWrongCommandLines) {
  for (const char* tool : kTools) {
    EXPECT_THAT(run_tool(tool, "--versoin"),
                Exits(64, HasSubstrs(": error: ", "did you mean --version?")))
        << tool;
    EXPECT_THAT(run_tool(tool, "--help").out, HasSubstr("Exit status:\n  0   success")) << tool;
  }
}

// By default, the parser CLI11 adds notes such as "REQUIRED" to a help text.
TEST(Tools, HelpFitsOneHundredColumnsAndHasNoNotesFromTheParser) {
  std::vector<std::string> commands(std::begin(kTools), std::end(kTools));
  commands.emplace_back(VITRINE_COMMAND);
  commands.push_back(std::string(VITRINE_COMMAND) + " compare");
  for (const std::string& command : commands) {
    const CommandResult help = run_tool(command, "--help");
    EXPECT_EQ(help.exit_code, 0) << command;
    std::istringstream lines(help.out);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 100u) << line;
      for (const char* leftover :
           {"REQUIRED", "Excludes:", "Needs:", "INT", "FLOAT", " in [", "Positionals"}) {
        EXPECT_THAT(line, Not(HasSubstr(leftover)));
      }
      const std::string names = line.substr(0, line.find(' ', line.find_first_not_of(' ')));
      EXPECT_THAT(names, Not(HasSubstr("{")));
    }
  }
}

// Runs the bash completion for `word`. `before` is the preceding word.
std::string completed(const std::string& tool, const std::string& word, const std::string& before) {
  const std::string script = VITRINE_SOURCE_DIR "/cmake/package/completion.bash";
  const CommandResult result = succeeded(
      run_tool("bash", "-c '. " + script + "; COMP_CWORD=1; _vitrine_options " + tool + " \"" +
                           word + "\" " + before + "; echo \"${COMPREPLY[*]}\"'"));
  return result.out;
}

TEST(Completion, CompletesOptionsAndOptionValues) {
  EXPECT_EQ(completed(VITRINE_PTE_LOWER, "xnnpack-d", "--backend"), "xnnpack-dynamic\n");
  EXPECT_EQ(completed(VITRINE_PTE_LOWER, "cu", "--attention"), "custom_sdpa\n");
  EXPECT_EQ(completed(VITRINE_EXECUTOR_RUNNER, "mo", "--group_by"), "module\n");
  EXPECT_EQ(completed(VITRINE_EXECUTOR_RUNNER, "s", "--print_output"), "summary\n");
  EXPECT_EQ(completed(VITRINE_LLM_RUNNER, "t", "--format"), "table timeline\n");
  EXPECT_EQ(completed(VITRINE_PTE_INSPECT, "--debug", "x"), "--debug_buffer\n");
}

TEST(Tools, AcceptTheSameSpellingsOfOptions) {
  const std::string spellings[] = {"--threads 1 --method forward --executions 2",
                                   "--cpu_threads 1 --method_name forward --num_executions 2",
                                   "--cpu-threads -1 --method-name forward --num-executions 2"};
  for (const std::string& options : spellings) {
    for (const char* tool : {VITRINE_EXECUTOR_RUNNER, VITRINE_RUN}) {
      if (tool == std::string_view(VITRINE_RUN) && options.find("cpu-") != std::string::npos) {
        continue;  // this small program knows two spellings
      }
      SCOPED_TRACE(tool + (" " + options));
      succeeded(run_tool(tool, sample(kModel) + " " + options));
    }
  }
}

TEST(Tools, RejectNumbersThatAreTooLarge) {
  EXPECT_THAT(
      run_tool(VITRINE_EXECUTOR_RUNNER, sample(kModel) + " --executions 99999999999999999999"),
      Exits(64, HasSubstr("99999999999999999999: expected 1 to 1000000000")));
  EXPECT_THAT(run_tool(VITRINE_EXECUTOR_RUNNER, sample(kModel) + " --threads 1025").err,
              HasSubstr("1025: expected -1 to 1024"));
}

TEST(Tools, ChooseTheReportFormatByFileExtension) {
  const ScratchFolder scratch;
  const std::pair<const char*, const char*> starts[] = {
      {"x.html", "<!"}, {"x.json", "{"}, {"x.csv", "row,"}, {"x.jsonl", "{"}, {"x.svg", "<svg"}};
  for (const auto& [name, start] : starts) {
    const std::string file = (scratch / name).string();
    succeeded(vitrine("profile " + sample(kModel) + " -o " + file));
    EXPECT_THAT(read_text(file), StartsWith(start)) << name;
  }
  EXPECT_THAT(vitrine("profile " + sample(kModel) + " --format csv --output -").out,
              StartsWith("row,"));
}

TEST(Tools, CanProfileSeveralThreadCounts) {
  EXPECT_THAT(vitrine("profile --threads 1,2 --executions 3 " + sample(kModel)),
              Prints(HasSubstrs("1 thread us", "2 threads us", "speed-up", "unattributed")));
  EXPECT_THAT(vitrine("profile --threads 1,2 --executions 3 --format json " + sample(kModel)).out,
              StartsWith("["));
  EXPECT_EQ(vitrine("run --threads 1,2 " + sample(kModel)).exit_code, 64);
}

TEST(Tools, ReportTheRunsCompletedBeforeCtrlC) {
  EXPECT_THAT(
      run_tool("timeout --preserve-status --signal INT --kill-after 60 4 " VITRINE_EXECUTOR_RUNNER,
               "--profile --executions 100000000 " + sample("digits_portable/model.pte")),
      Exits(128 + SIGINT, testing::_, HasSubstrs("warning: interrupted after ", "wall")));
}

TEST(Tools, ReadInputsFromStandardInput) {
  const std::string run = sample("linear_relu/model.pte") + " --inputs ";
  const std::string input = sample("linear_relu/input_0.bin");
  EXPECT_THAT(run_tool("cat " + input + " | " VITRINE_EXECUTOR_RUNNER, run + "-"),
              Prints(succeeded(run_tool(VITRINE_EXECUTOR_RUNNER, run + input)).out));
}

TEST(Tools, ExplainOptionDoesNotRequireAnOutputFile) {
  EXPECT_THAT(run_tool(VITRINE_PTE_LOWER, sample(kExported) + " --backend xnnpack --explain"),
              Prints(Not(testing::IsEmpty())));
  EXPECT_THAT(run_tool(VITRINE_PTE_LOWER, sample(kExported)),
              Exits(64, HasSubstr("--output is required")));
}

TEST(Tools, ErrorsNameWrongFilesAndMissingOptions) {
  const ScratchFolder scratch;
  tools::write_file(scratch / "x.npy", npy_file("<f4", "3, 2", std::string(24, '\0')));
  const std::string exported = sample(kExported);
  const std::string llm = "--model_path " + sample("kjv_8da4w/model.pte");
  const struct {
    const char* tool;
    std::string arguments, error;
  } cases[] = {
      {VITRINE_EXECUTOR_RUNNER, exported,
       "expected a program (.pte), found an exported model (.pt2): lower it with 'vitrine lower " +
           exported + " --backend xnnpack -o "},
      {VITRINE_PTE_LOWER, sample(kModel) + " -o x.pte",
       "expected an exported model (.pt2 or .ptn), found a program (.pte)"},
      {VITRINE_LLM_RUNNER, "--model_path " + exported + " --prompt x",
       "found an exported model (.pt2)"},
      {VITRINE_PTE_LOWER, (scratch / "x.npy").string() + " -o x.pte", "found a NumPy array (.npy)"},
      {VITRINE_PTE_INSPECT, sample("linear_relu/etrecord.bin") + " --explain",
       "expected a program (.pte), found "},
      {VITRINE_PTE_INSPECT, sample("linear_relu/model.pte") + " --explain",
       "give the record's file with --etrecord"},
      {VITRINE_LLM_RUNNER, llm + " --prompt x", "give a tokenizer with --tokenizer"},
      {VITRINE_LLM_RUNNER,
       llm + " --tokenizer " + sample("kjv_8da4w/tokenizer.model") + " --num_bos 0",
       "give at least one token (--prompt, "}};
  for (const auto& each : cases) {
    EXPECT_THAT(run_tool(each.tool, each.arguments), Exits(1, HasSubstr(each.error)));
  }
}

TEST(Tools, ReadInputsFromNumpyFiles) {
  const ScratchFolder scratch;
  const std::string elements = read_text(sample("linear_relu/input_0.bin"));
  const std::string expected =
      " --verify --expected_output " + sample("linear_relu/expected_0.bin");
  const std::string run = sample("linear_relu/model.pte") + expected + " --inputs ";
  succeeded(run_tool(VITRINE_EXECUTOR_RUNNER, run + sample("linear_relu/input_0.bin")));
  const std::filesystem::path file = scratch / "x.npy";
  tools::write_file(file, npy_file("<f4", "4, 16", elements));
  succeeded(run_tool(VITRINE_EXECUTOR_RUNNER, run + file.string()));
  const struct {
    const char *dtype, *shape, *message;
  } wrong[] = {{"<i4", "4, 16", "the array is i32"}, {"<f4", "64,", "but input 0 is f32"}};
  for (const auto& each : wrong) {
    tools::write_file(file, npy_file(each.dtype, each.shape, elements));
    EXPECT_THAT(run_tool(VITRINE_EXECUTOR_RUNNER, run + file.string()),
                Exits(1, HasSubstrs("--inputs " + file.string(), each.message)));
  }
}

}  // namespace
}  // namespace vitrine::test
