// The command line of llm_runner: the flags of ExecuTorch's llama_main, and its own.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/backend_flags.h"
#include "host/input_file.h"
#include "host/profile_report.h"
#include "vitrine/method_decoder.h"
#include "vitrine/text_generator.h"

namespace vitrine::tools {

struct LlmOptions {
  std::filesystem::path model;
  std::vector<std::filesystem::path> data;
  std::filesystem::path tokenizer;  // empty: ids in and out
  DecoderMethodNames methods;
  MethodDecoderOptions decoder;
  std::optional<InputSpec> features;  // for the encoder
  std::string row_token;              // stands for its rows in prompts; empty: by the tokenizer
  std::string prompt;
  std::vector<TokenId> prompt_ids;  // instead of the prompt
  bool chat = false;
  std::string chat_format;  // of a turn; {} is what was typed
  bool print_ids = false;
  bool warmup = false;
  bool portable = false;
  size_t threads = 0;
  BackendFlags backend;
  bool profile = false;
  std::filesystem::path etdump;    // for the kept steps; empty: none
  std::filesystem::path etrecord;  // empty: the program's own
  bool roofline = false;
  std::vector<std::filesystem::path> compare;  // saved profiles: two, or one and this run's
  ReportOptions report;
  GenerateOptions generate;
};

// Nothing if the process is to end with `exit_code`. Throws ToolError.
std::optional<LlmOptions> parse_llm_options(int argc, char** argv, int* exit_code);

}  // namespace vitrine::tools
