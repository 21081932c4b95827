#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "formats/etdump/etdump_reader.h"
#include "test/support/corpus.h"
#include "test/support/read_json.h"
#include "test/support/read_text.h"
#include "test/tools/command.h"
#include "tools/common/files.h"

namespace vitrine::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// Runs llm_runner on the sample model without a tokenizer, because cross builds may lack the
// library that the tokenizer needs. Prompts must be token ids.
CommandResult llm_runner(const std::string& arguments) {
  return run_tool(VITRINE_LLM_RUNNER, "--model_path " + sample("kjv_8da4w/model.pte") +
                                          " --temperature 0 " + arguments);
}

// Returns the output of the tool up to its statistics.
std::string ids_in(const std::string& out) { return out.substr(0, out.find("PyTorchObserver")); }

std::string prompt_ids(const json& generated) {
  return fmt::format("--prompt_ids {}",
                     fmt::join(generated.at("prompt_ids").get<std::vector<int>>(), ","));
}

// Compares only the first five ids. The model has quantized activations, so later ids may differ if
// two logits are close.
TEST(LlmRunnerTest, FirstIdsMatchPyTorch) {
  for (const json& generated : read_json(samples_dir() / "kjv_8da4w/generate.json")) {
    auto ids = generated.at("ids").get<std::vector<int>>();
    ids.resize(5);
    EXPECT_THAT(llm_runner(prompt_ids(generated) + " --max_new_tokens 5"),
                Prints(HasSubstr(fmt::format("answer: {}\n", fmt::join(ids, " ")))));
  }
}

// Expects that the streamed texts of all prompts equal those of PyTorch.
void expect_pytorch_texts(const std::string& model, const std::filesystem::path& folder) {
  const ScratchFolder scratch;
  const std::string prompt = (scratch / "prompt").string();
  for (const json& generated : read_json(folder / "generate.json")) {
    tools::write_file(prompt, generated.at("prompt").get<std::string>());
    const CommandResult result = succeeded(
        run_tool(VITRINE_LLM_RUNNER,
                 fmt::format("--model_path {} --tokenizer_path {} --prompt_file {} --temperature 0 "
                             "--num_bos 1 --ignore_eos --max_new_tokens {}",
                             model, (folder / "tokenizer.model").string(), prompt,
                             generated.at("ids").size())));
    EXPECT_EQ(result.out.substr(0, result.out.find("\nPyTorchObserver")),
              generated.at("prompt").get<std::string>() +
                  generated.at("continuation").get<std::string>());
  }
}

TEST(LlmRunnerTest, StreamedTextMatchesPyTorch) {
  VITRINE_NEEDS_CORPUS_LLM();
  expect_pytorch_texts(corpus_llm_dir() / "kjv_f32/model.pte", corpus_llm_dir() / "kjv_f32");
}

// The model is lowered without XNNPACK, which would round the scales of int4 weights to bfloat16.
TEST(LlmRunnerTest, QuantizedModelTextMatchesPyTorch) {
  VITRINE_NEEDS_CORPUS_LLM();
  const ScratchFolder scratch;
  const std::filesystem::path folder = corpus_llm_dir() / "kjv_8da4w";
  const std::string model = (scratch / "model.pte").string();
  succeeded(run_tool(VITRINE_PTE_LOWER, (folder / "model.pt2").string() + " -o " + model));
  expect_pytorch_texts(model, folder);
}

TEST(LlmRunnerTest, ProfileDoesNotChangeIds) {
  const json generated = read_json(samples_dir() / "kjv_8da4w/generate.json").at(0);
  const std::string arguments = prompt_ids(generated) + " --max_new_tokens 60 --ignore_eos";
  const std::string ids = ids_in(llm_runner(arguments).out);
  const ScratchFolder scratch;
  const CommandResult result = succeeded(
      llm_runner(arguments + " --profile --etdump_path " + (scratch / "trace.etdp").string()));
  EXPECT_THAT(ids, HasSubstr("answer: "));
  EXPECT_THAT(result.out, testing::StartsWith(ids));
  EXPECT_THAT(result.out, HasSubstrs("prefill 10 tokens in 1 call", "decode  59 tokens"));
  EXPECT_GT(etdump::read_etdump(scratch / "trace.etdp").blocks.size(), 8u);
}

TEST(LlmRunnerTest, StandardOutputContainsOnlyTheJsonReport) {
  const CommandResult result =
      succeeded(llm_runner("--prompt_ids 1,43 --max_new_tokens 4 --profile --format json"));
  const json report = json::parse(result.out);
  EXPECT_EQ(report.at("phases").at("decode").at("steps"), 3);
  EXPECT_THAT(result.err, HasSubstr("PyTorchObserver"));
}

TEST(LlmRunnerTest, RandomPromptHasTheGivenLengthAndIsRepeatable) {
  const std::string arguments =
      "--random_prompt 100 --max_new_tokens 4 --ignore_eos --temperature 0 --print_ids ";
  EXPECT_THAT(llm_runner(arguments + "--profile --format json"),
              Exits(0, HasSubstr("\"prompt_tokens\":100")));
  EXPECT_EQ(ids_in(llm_runner(arguments).out), ids_in(llm_runner(arguments).out));
  EXPECT_EQ(llm_runner("--random_prompt 100 --prompt_ids 1").exit_code, 64);
  EXPECT_THAT(llm_runner("--random_prompt 100000").err, HasSubstr("context"));
}

TEST(LlmRunnerTest, WritesEveryReportFormat) {
  const ScratchFolder scratch;
  for (const char* format : {"table", "json", "csv", "html", "timeline"}) {
    const std::string file = (scratch / format).string();
    EXPECT_THAT(llm_runner(fmt::format("--prompt_ids 1,43 --max_new_tokens 4 --profile --format {} "
                                       "--output {}",
                                       format, file)),
                Prints(HasSubstr("answer: ")));
    EXPECT_GT(read_text(file).size(), 500u) << format;  // digits of times vary
  }
  EXPECT_THAT(read_text(scratch / "timeline"), HasSubstr("decode at 2"));
}

TEST(LlmRunnerTest, WeightsCacheKeepsPackedWeights) {
  const ScratchFolder scratch;
  const std::string arguments = "--prompt_ids 1,43 --max_new_tokens 4 --profile --format json " +
                                ("--weights_cache " + (scratch / "weights").string());
  const json first = json_of(llm_runner(arguments)).at("memory");
  const json later = json_of(llm_runner(arguments)).at("memory");
  EXPECT_GT(first.at("packed_weights"), 500'000);
  EXPECT_EQ(first.at("mapped_weights"), 0);
  EXPECT_EQ(later.at("packed_weights"), 0);
  EXPECT_EQ(later.at("mapped_weights"), first.at("packed_weights"));
}

// Prefill and decode share their weights and XNNPACK's packed copies of these weights.
TEST(LlmRunnerTest, CountsSharedWeightsOnce) {
  VITRINE_NEEDS_CORPUS_LLM();
  const std::string model = corpus_llm_dir() / "llama_prefill_decode_shared_kv/model.pte";
  const auto packed = [&](const std::string& methods) {
    const CommandResult result = succeeded(run_tool(
        VITRINE_LLM_RUNNER, "--model_path " + model + " --temperature 0 --prompt_ids 1,5 " +
                                "--max_new_tokens 4 --profile --format json " + methods));
    return json::parse(result.out).at("memory").at("packed_weights").get<size_t>();
  };
  const size_t of_one = packed("--method decode");
  EXPECT_GT(of_one, 50'000U);
  EXPECT_EQ(packed("--method decode --prefill_method prefill"), of_one);
}

TEST(LlmRunnerTest, ComparesProfilesPhaseByPhase) {
  const ScratchFolder scratch;
  const auto profile = [&](const char* name, const std::string& arguments) {
    const std::string file = (scratch / name).string();
    succeeded(llm_runner("--profile --format json --output " + file + " " + arguments));
    return file;
  };
  const std::string a = profile("a.json", "--prompt_ids 1,43 --max_new_tokens 12");
  const std::string b = profile("b.json", "--prompt_ids 1,43,456 --max_new_tokens 20");
  const CommandResult both = succeeded(run_tool(VITRINE_LLM_RUNNER, "--compare " + a + " " + b));
  EXPECT_THAT(both.out, HasSubstrs("A  a.json", "prefill 3 tokens"));
  EXPECT_THAT(both.out, HasSubstr("the prompts have 2 and 3 tokens"));
  const CommandResult run = succeeded(
      llm_runner("--prompt_ids 1,43 --max_new_tokens 12 --profile --format json --compare " + a));
  const json report = json::parse(run.out);
  EXPECT_EQ(report.at("b").at("file"), "this run");
  for (const json& row : report.at("phases").at("decode").at("rows")) {
    EXPECT_EQ(row.at("rows_a"), row.at("rows_b")) << row;
  }
  // Both profiles are of the same model, so the ratio of their times is between 0.001 and 1000.
  const auto limited = [&](const std::string& limit) {
    return run_tool(VITRINE_LLM_RUNNER, "--compare " + a + " " + b + " --fail_above " + limit);
  };
  succeeded(limited("1000"));
  EXPECT_EQ(limited("0.001").exit_code, 2);
  EXPECT_THAT(limited("0.001").err, HasSubstr("times as long as A"));
  EXPECT_THAT(llm_runner("--prompt_ids 1 --fail_above 2").err,
              HasSubstr("--fail_above: needs --compare"));
  EXPECT_NE(run_tool(VITRINE_LLM_RUNNER, "--compare " + a).exit_code, 0);
  EXPECT_NE(llm_runner("--prompt_ids 1 --profile --compare " + a + " " + b).exit_code, 0);
  EXPECT_NE(
      run_tool(VITRINE_LLM_RUNNER, "--compare " + a + " " + b + " --format timeline").exit_code, 0);
}

TEST(LlmRunnerTest, RejectsInvalidMethodOptions) {
  const std::pair<const char*, const char*> cases[] = {
      {"--method backward", "the program has no method backward; methods with inputs: forward"},
      {"--prefill_method forwards", "no method forwards"},
      {"--encoder_method forward",
       "no input of method forward accepts the output of method forward"},
      {"--method_inputs position,ids", "method forward: input 0 (i64[1,255]) cannot be a position"},
      {"--method_inputs ids,mask", "got \"mask\""},
      {"--encoder_input model.pte", "no encoder that takes features"},
      {"--encoder_token 9", "--encoder_token: the program has no encoder"},
      {"--context 0", "--context: 0: expected 1 to "},
      {"--top_k -1", "--top_k: -1: expected 0 or more"},
      {"--context 257", "257 was requested, but the program supports at most 256"}};
  for (const auto& [options, error] : cases) {
    EXPECT_THAT(llm_runner(std::string("--prompt_ids 1 --max_new_tokens 2 ") + options),
                Exits(testing::Ne(0), HasSubstr(error)))
        << options;
  }
}

// Lines may end in CR LF. Empty lines are ignored.
TEST(LlmRunnerTest, ChatTreatsEachLineAsTurn) {
  const ScratchFolder scratch;
  const std::string turns = (scratch / "turns").string();
  tools::write_file(turns, std::string_view("And the LORD\r\n\nspake unto\n"));
  const CommandResult result = succeeded(
      llm_runner("--tokenizer_path " + sample("kjv_8da4w/tokenizer.model") +
                 " --chat --chat_format '{}' --max_new_tokens 4 --ignore_eos < " + turns));
  std::vector<int> prompts;
  for (size_t at = 0; (at = result.out.find("PyTorchObserver ", at)) != std::string::npos; ++at) {
    const size_t begin = at + std::string_view("PyTorchObserver ").size();
    const json statistics =
        json::parse(result.out.substr(begin, result.out.find('\n', at) - begin));
    prompts.push_back(statistics.at("prompt_tokens"));
    EXPECT_EQ(statistics.at("generated_tokens"), 3);  // the statistics leave out the first token
  }
  EXPECT_EQ(prompts.size(), 2u);
  EXPECT_NE(llm_runner("--chat --warmup < " + turns).exit_code, 0);
}

// The context of 256 tokens becomes full during the third answer. The tool must still write its
// reports.
TEST(LlmRunnerTest, ChatEndsWhenContextIsFull) {
  const ScratchFolder scratch;
  const std::string turns = (scratch / "turns").string();
  tools::write_file(turns, std::string_view("And\nthe\nLORD\nspake\nunto\n"));
  const std::string trace = (scratch / "trace.etdp").string();
  const std::string arguments =
      "--tokenizer_path " + sample("kjv_8da4w/tokenizer.model") + " --chat --ignore_eos --profile ";
  const CommandResult result = succeeded(llm_runner(
      arguments + "--max_new_tokens 100 --format json --etdump_path " + trace + " < " + turns));
  EXPECT_THAT(result.err, HasSubstrs("the chat ends: the prompt has ",
                                     "the model's context of 256 has no room for an answer"));
  const json report = json::parse(result.out);
  EXPECT_GT(report.at("phases").at("decode").at("steps"), 200);
  EXPECT_GT(etdump::read_etdump(trace).blocks.size(), 8u);
  EXPECT_EQ(llm_runner(arguments + "--seq_len 1 < " + turns).exit_code, 1)
      << "no turn was answered";
}

// The output of an interrupted tool. `has_succeeded` is true if the tool exited with code 0.
struct InterruptedRun {
  std::string out;
  bool has_succeeded;
};

// Runs the tool. Once `is_due` returns true for the text printed so far, waits for `delay` and
// sends the tool a Ctrl-C. The tool reads `input` from standard input, which stays open until after
// the signal.
InterruptedRun interrupt(const std::string& arguments, const std::string& input,
                         const std::function<bool(const std::string& out)>& is_due,
                         std::chrono::milliseconds delay = {}) {
  const std::string command = "exec " VITRINE_LLM_RUNNER " --model_path " +
                              sample("kjv_8da4w/model.pte") + " --tokenizer_path " +
                              sample("kjv_8da4w/tokenizer.model") + " --ignore_eos " + arguments;
  std::array<int, 2> ends = {};
  std::array<int, 2> input_ends = {};
  EXPECT_EQ(::pipe(ends.data()), 0);
  EXPECT_EQ(::pipe(input_ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::dup2(input_ends[0], STDIN_FILENO);
    for (const int end : {ends[0], ends[1], input_ends[0], input_ends[1]}) ::close(end);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(ends[1]);
  ::close(input_ends[0]);
  EXPECT_EQ(::write(input_ends[1], input.data(), input.size()), static_cast<ssize_t>(input.size()));
  InterruptedRun result;
  std::array<char, 256> bytes = {};
  bool was_sent = false;
  const auto send = [&] {
    was_sent = true;
    std::this_thread::sleep_for(delay);
    ::kill(child, SIGINT);
  };
  if (is_due("")) send();
  for (ssize_t count = 0; (count = ::read(ends[0], bytes.data(), bytes.size())) > 0;) {
    result.out.append(bytes.data(), static_cast<size_t>(count));
    if (was_sent || !is_due(result.out)) continue;
    send();
    if (input.empty()) continue;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ::close(std::exchange(input_ends[1], -1));
  }
  ::close(ends[0]);
  if (input_ends[1] >= 0) ::close(input_ends[1]);
  int status = 0;
  ::waitpid(child, &status, 0);
  result.has_succeeded = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return result;
}

// On a busy machine, the signal may arrive after the last token. In this case, the test tries
// again.
TEST(LlmRunnerTest, CtrlCEndsAnswer) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    const InterruptedRun result = interrupt(
        "--prompt And --max_new_tokens 240", "",
        [](const std::string& out) { return out.size() > std::string_view("And").size(); });
    const std::string_view label = "PyTorchObserver ";
    const size_t at = result.out.find(label);
    if (!result.has_succeeded || at == std::string::npos) continue;
    const json statistics = json::parse(result.out.substr(at + label.size()));
    const int generated = statistics.at("generated_tokens");
    if (generated == 239) continue;  // all tokens; the statistics leave out the first
    EXPECT_LT(generated, 239);
    EXPECT_THAT(result.out, testing::StartsWith("And"));
    return;
  }
  FAIL() << "Ctrl-C did not end an answer in 20 attempts";
}

// A signal that comes too early ends the process, so the test tries several times.
TEST(LlmRunnerTest, CtrlCInChatStillPrintsReport) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    const InterruptedRun result = interrupt(
        "--chat --max_new_tokens 4 --profile", "And\n",
        [](const std::string& out) { return out.ends_with("}\n"); }, std::chrono::milliseconds(50));
    if (!result.has_succeeded) continue;
    EXPECT_THAT(result.out, HasSubstr("decode  3 tokens"));
    return;
  }
  FAIL() << "Ctrl-C did not end a chat in 20 attempts";
}

TEST(LlmRunnerTest, CtrlCInWarmUpEndsTool) {
  for (int attempt = 0; attempt < 60; ++attempt) {
    const InterruptedRun result = interrupt(
        "--prompt And --warmup --max_new_tokens 240", "",
        [](const std::string& out) { return out.empty(); },
        std::chrono::milliseconds(10 + 5 * attempt));
    if (result.has_succeeded && result.out.empty()) return;
  }
  FAIL() << "Ctrl-C did not end a warm-up in 60 attempts";
}

// A flag may begin with one dash or two. If a flag is repeated, the last value wins. --data_paths
// may be empty.
TEST(LlmRunnerTest, AcceptsTheFlagSyntaxOfTheExecuTorchRunner) {
  const std::string expected = llm_runner("--prompt_ids 1,43 --max_new_tokens 4").out;
  const CommandResult result = succeeded(
      llm_runner("-prompt_ids=1,43 --data_paths '' --max_new_tokens 9 -max_new_tokens 4"));
  EXPECT_EQ(ids_in(result.out), ids_in(expected));
  EXPECT_THAT(expected, HasSubstr("answer: "));
}

TEST(LlmRunnerTest, RejectsInvalidPromptIds) {
  for (const char* ids : {"''", "1,,2", "1,", "1,x", "99999999999999999999"}) {
    EXPECT_THAT(llm_runner(fmt::format("--prompt_ids {}", ids)),
                Exits(64, HasSubstr("is not a token id; expected a list such as 1,15043")))
        << ids;
  }
}

TEST(LlmRunnerTest, RejectsOptionsWithoutEffect) {
  for (const char* options : {"--roofline", "--format json", "--chat", "--profile --costs"}) {
    EXPECT_NE(llm_runner(std::string("--prompt_ids 1 ") + options).exit_code, 0) << options;
  }
}

}  // namespace
}  // namespace vitrine::test
