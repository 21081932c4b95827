// Parses the flags of ExecuTorch's llama_main, and further options.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/common/backend_flags.h"
#include "tools/common/input_file.h"
#include "tools/common/profile_report.h"
#include "vitrine/method_decoder.h"
#include "vitrine/text_generator.h"

namespace vitrine::tools {

// The default tokenizer file of ExecuTorch's runner.
inline constexpr const char* kDefaultTokenizer = "tokenizer.bin";

struct LlmOptions {
  std::filesystem::path model;
  std::vector<std::filesystem::path> data;
  std::filesystem::path tokenizer;  // an empty path means that prompt and answer are ids
  DecoderMethodNames methods;
  MethodDecoderOptions decoder;
  std::optional<InputSpec> features;  // input of the encoder
  std::string row_token;  // placeholder for the encoder's rows; if empty, the tokenizer decides
  std::string prompt;
  std::vector<TokenId> prompt_ids;  // replace the prompt unless the list is empty
  size_t random_prompt = 0;         // length of a prompt of random ids; 0: none
  bool chat = false;
  std::string chat_format;  // text of a turn; the user's line replaces {}
  bool print_ids = false;
  bool warmup = false;
  bool portable = false;
  size_t threads = 0;
  BackendFlags backend;
  bool profile = false;
  bool roofline = false;
  bool numerics = false;
  std::filesystem::path etdump;    // file for the trace of the kept steps; may be empty
  std::filesystem::path etrecord;  // an empty path means the program's own record
  std::vector<std::filesystem::path>
      compare;  // two saved profiles, one to compare with this run, or with `perplexity` a program
  std::optional<double> fail_above;          // limit on the ratio of decode times, for --compare
  std::filesystem::path perplexity;          // text to score; may be empty
  std::filesystem::path reference;           // exact model for `numerics`
  std::filesystem::path reference_etrecord;  // the reference's ETRecord
  std::optional<double> fail_below;          // limit in dB for `numerics`
  size_t stride = 0;                         // tokens that a window scores; 0: as many as possible
  size_t max_tokens = size_t{1} << 20;       // limit on the tokens of the scored text
  ReportOptions report;
  GenerateOptions generate;
};

// Returns nullopt if the tool must exit with *exit_code: after --help, or after an invalid command
// line, which is reported on stderr. Throws ToolError.
std::optional<LlmOptions> parse_llm_options(int argc, char** argv, int* exit_code);

}  // namespace vitrine::tools
