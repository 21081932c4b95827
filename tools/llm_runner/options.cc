#include "tools/llm_runner/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <limits>
#include <sstream>

#include "tools/common/command_line.h"
#include "tools/common/files.h"
#include "tools/common/input_file.h"
#include "tools/common/report_options.h"
#include "tools/llm_runner/evaluation_options.h"

namespace vitrine::tools {
namespace {

// Values of the command line. Members other than `options` become LlmOptions later.
struct LlmCommandLine {
  LlmOptions options;
  std::string prompt_file;
  std::string prompt_ids;
  int threads = kDefaultThreads;
  int64_t seq_len = 128;
  uint64_t seed = 0;
  std::vector<std::string> method_inputs;
  std::string encoder_input;
  TokenId start_id = 0;
};

void add_stock_flags(CLI::App& app, LlmCommandLine& line) {
  LlmOptions& options = line.options;
  options.model = "llama2.pte";
  app.add_option("model,--model_path", options.model, "program (.pte)")
      ->capture_default_str()
      ->type_name("FILE");
  app.add_option("--data,--data_paths,--data_path", options.data,
                 "external weights (.ptd), separated by commas")
      ->delimiter(',')
      ->type_name("FILES");
  app.add_option(
         "--tokenizer,--tokenizer_path", options.tokenizer,
         "tokenizer: SentencePiece, tokenizer.json, tiktoken or llama2.c (default: tokenizer.bin)")
      ->type_name("FILE");
  app.add_option("--prompt", options.prompt, "text to continue");
  app.add_option("--prompt_file", line.prompt_file, "file with the text to continue")
      ->type_name("FILE");
  app.add_option("--temperature", options.generate.sampling.temperature,
                 "sampling temperature; 0: always the most probable token")
      ->capture_default_str();
  app.add_option("--seq_len", line.seq_len,
                 "maximum tokens of prompt and answer together; ignored with --max_new_tokens")
      ->capture_default_str();
  app.add_option("--max_new_tokens", options.generate.max_new_tokens,
                 "maximum tokens of the answer; -1: limited only by --seq_len")
      ->capture_default_str();
  add_threads(OptionGroup(app, "Options"), line.threads);
  app.add_option("--num_bos", options.generate.encode.num_bos,
                 "number of begin tokens before the prompt")
      ->check(between(0, 16));
  app.add_option("--num_eos", options.generate.encode.num_eos,
                 "number of end tokens after the prompt")
      ->check(between(0, 16));
  app.add_flag("--warmup,!--nowarmup", options.warmup,
               "generate once without output before the actual run");
  app.add_flag("--ignore_eos,!--noignore_eos", options.generate.ignore_eos,
               "continue after end tokens");
  app.add_option("--method,--method_name", options.methods.decode,
                 "method that decodes (default: forward, decode, text_decoder or decoder)")
      ->type_name("NAME");
  app.add_option("--etdump_path", options.etdump,
                 "write an ETDump with traces of evenly spaced steps and of the slowest steps")
      ->type_name("FILE");
}

void add_own_flags(CLI::App& app, LlmCommandLine& line) {
  LlmOptions& options = line.options;
  SamplerOptions& sampling = options.generate.sampling;
  app.add_option("--top_p", sampling.top_p,
                 "sample from the most probable tokens that together have this probability")
      ->capture_default_str();
  app.add_option("--top_k", sampling.top_k,
                 "sample from this many of the most probable tokens; 0: use --top_p")
      ->check(at_least(0))
      ->capture_default_str();
  app.add_option(
      "--seed", line.seed,
      "seed of the random numbers; equal seeds give equal texts (default: the current time)");
  app.add_option("--prompt_ids", line.prompt_ids, "token ids instead of a prompt, such as 1,15043")
      ->type_name("IDS")
      ->excludes("--prompt")
      ->excludes("--prompt_file");
  app.add_option("--random_prompt", options.random_prompt,
                 "use N random ids as the prompt, to measure long contexts")
      ->check(between(1, 1 << 24))
      ->type_name("N")
      ->excludes("--prompt")
      ->excludes("--prompt_file")
      ->excludes("--prompt_ids");
  app.add_flag("--print_ids", options.print_ids,
               "print the ids of prompt and answer instead of text");
  app.get_option("--prompt")->excludes("--prompt_file");
  CLI::Option* chat =
      app.add_flag("--chat", options.chat, "chat: each line of standard input is a turn");
  for (const char* other : {"--prompt", "--prompt_file", "--prompt_ids", "--random_prompt",
                            "--print_ids", "--warmup"}) {
    chat->excludes(other);
  }
  options.chat_format = "{}";
  app.add_option("--chat_format", options.chat_format, "text of a turn; {} is replaced by the line")
      ->needs("--chat");
  app.add_flag("--add_template", options.generate.encode.add_template,
               "add the tokens that the template of tokenizer.json puts around a text");
  app.add_flag("--portable", options.portable, "run without the optimized kernels");
  add_backend_flags(OptionGroup(app, "Backends"), options.backend);
}

void add_method_flags(CLI::App& app, LlmCommandLine& line) {
  LlmOptions& options = line.options;
  const OptionGroup group(app, "Programs of several methods");
  group
      .add_option(
          "--prefill_method", options.methods.prefill,
          "method that takes the prompt; it must share the cache of the decoder (default: prefill)")
      ->type_name("NAME");
  group
      .add_option(
          "--encoder_method", options.methods.encoder,
          "method whose output goes to the decoder, as an input or in place of placeholder tokens "
          "(default: encoder, vision_encoder or audio_encoder)")
      ->type_name("NAME");
  group
      .add_option("--embedding_method", options.methods.embedding,
                  "method that maps ids to rows for the decoder (default: token_embedding)")
      ->type_name("NAME");
  group
      .add_option("--method_inputs", line.method_inputs,
                  "kinds of the inputs, in order, if shapes are ambiguous: ids,position,encoded")
      ->delimiter(',')
      ->type_name("KINDS");
  group
      .add_option("--encoder_input", line.encoder_input,
                  "file of raw features for the encoder, with their shape if it is dynamic: "
                  "speech.bin:1x80x3000")
      ->type_name("FILE");
  group
      .add_option("--encoder_token", options.row_token,
                  "placeholder token (or id) for the encoder's rows in the prompt (default: "
                  "<image>, <audio> or similar tokens of the tokenizer)")
      ->type_name("TOKEN");
  group.add_option("--start_id", line.start_id,
                   "first id of the decoder if there is an encoder (default: the program's)");
  group
      .add_option("--context", options.decoder.max_context,
                  "length of the context in tokens (default: the program's)")
      ->check(between(1, std::numeric_limits<int32_t>::max()));
}

void add_profiling_flags(CLI::App& app, LlmCommandLine& line) {
  LlmOptions& options = line.options;
  const OptionGroup group(app, "Profiling");
  group.add_flag("--profile", options.profile,
                 "print what tokens cost, op by op, for prefill and decode");
  group
      .add_option("--etrecord", options.etrecord,
                  "ETRecord with source ops and modules, if the program does not contain one")
      ->type_name("FILE");
  group.add_flag("--roofline", options.roofline,
                 "add each row's share of this machine's memory bandwidth (measured once, then "
                 "saved)");
  group
      .add_option("--compare", options.compare,
                  "compare two profiles written with --format json; with --profile, compare this "
                  "run with a profile; with --perplexity, compare this program with another")
      ->type_name("A.json [B.json]")
      ->expected(1, 2);
  add_fail_above(group, options.fail_above);
  options.report.view.by = inspector::GroupBy::kOp;
  add_report_options(group, options.report);
}

std::vector<TokenId> parse_ids(const std::string& text) {
  std::vector<TokenId> ids;
  std::istringstream items(text + ',');
  for (std::string item; std::getline(items, item, ',');) {
    TokenId& id = ids.emplace_back();
    const auto [end, failed] = std::from_chars(item.data(), item.data() + item.size(), id);
    if (failed == std::errc() && end == item.data() + item.size()) continue;
    throw CLI::ValidationError(
        "--prompt_ids",
        fmt::format("\"{}\" is not a token id; expected a list such as 1,15043", item));
  }
  return ids;
}

// Reads flags as ExecuTorch's runner does: one dash or two, and the last value of a repeated flag.
void read_like_stock_flags(CLI::App& app, std::vector<std::string>& arguments) {
  for (std::string& argument : arguments) {
    const std::string name = argument.substr(0, argument.find('='));
    const bool has_one_dash = name.size() > 2 && name[0] == '-' && name[1] != '-';
    if (has_one_dash && app.get_option_no_throw("-" + name) != nullptr) argument.insert(0, 1, '-');
  }
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 1 && option->get_delimiter() == '\0') {
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    }
  }
}

void check_files(const LlmOptions& options, const std::string& prompt_file) {
  std::vector<std::filesystem::path> read = {
      options.model,      options.tokenizer, options.etrecord,          prompt_file,
      options.perplexity, options.reference, options.reference_etrecord};
  read.insert(read.end(), options.data.begin(), options.data.end());
  read.insert(read.end(), options.compare.begin(), options.compare.end());
  if (options.features) read.push_back(options.features->file);
  const std::filesystem::path written[] = {options.report.file, options.etdump};
  check_outputs(written, read);
}

void check_profiling_flags(const CLI::App& app, const LlmOptions& options) {
  if (options.report.costs || options.report.ids) {
    throw CLI::ValidationError("--costs and --ids", "cannot be used with a token profile");
  }
  if (options.report.format == ReportFormat::kJsonl ||
      options.report.format == ReportFormat::kSvg) {
    throw CLI::ValidationError("--format", "jsonl and svg are not available for a token profile");
  }
  if (check_evaluation_flags(app, options)) return;
  const bool has_report = options.profile || !options.compare.empty();
  for (const char* flag : {"--roofline", "--etrecord"}) {
    if (!options.profile && app.count(flag) != 0)
      throw CLI::ValidationError(flag, "needs --profile");
  }
  for (const char* flag : {"--output", "--format", "--width", "--group_by", "--top", "--filter"}) {
    if (has_report || app.count(flag) == 0) continue;
    throw CLI::ValidationError(flag, "needs --profile or --compare");
  }
  if (options.compare.empty()) {
    if (options.fail_above) throw CLI::ValidationError("--fail_above", "needs --compare");
    return;
  }
  if (options.report.format == ReportFormat::kTimeline) {
    throw CLI::ValidationError("--format", "timeline cannot be used with --compare");
  }
  if (!options.report.view.filter.empty()) {
    throw CLI::ValidationError("--filter", "cannot be used with --compare");
  }
  if (options.profile != (options.compare.size() == 1)) {
    throw CLI::ValidationError("--compare", "needs two profiles, or one profile and --profile");
  }
}

}  // namespace

std::optional<LlmOptions> parse_llm_options(int argc, char** argv, int* exit_code) {
  LlmCommandLine line;
  CLI::App app("Runs a language model: continues a prompt, or chats.", "llm_runner");
  add_stock_flags(app, line);
  add_own_flags(app, line);
  add_method_flags(app, line);
  add_evaluation_flags(app, line.options);
  add_profiling_flags(app, line);
  const auto check = [&] {
    choose_format(app, line.options.report);
    check_profiling_flags(app, line.options);
    if (app.count("--prompt_ids") != 0) line.options.prompt_ids = parse_ids(line.prompt_ids);
    std::erase(line.options.data, "");  // ExecuTorch's default is an empty string
    if (line.options.chat_format.find("{}") == std::string::npos) {
      throw CLI::ValidationError("--chat_format", "must contain {}");
    }
  };
  std::vector<std::string> arguments(argv + 1, argv + argc);
  read_like_stock_flags(app, arguments);
  if (!parse_command_line(app, std::move(arguments), check, exit_code)) return std::nullopt;
  LlmOptions options = std::move(line.options);
  // A chat may use the entire context, so it ignores the default of --seq_len.
  const bool has_bound = !options.chat || app.count("--seq_len") != 0;
  if (options.generate.max_new_tokens < 0 && has_bound) options.generate.seq_len = line.seq_len;
  if (options.tokenizer.empty() && options.prompt_ids.empty() && options.random_prompt == 0 &&
      line.encoder_input.empty()) {
    options.tokenizer = kDefaultTokenizer;
  }
  if (app.count("--seed") != 0) options.generate.sampling.seed = line.seed;
  if (app.count("--start_id") != 0) options.decoder.start_id = line.start_id;
  for (const std::string& name : line.method_inputs) {
    options.methods.inputs.push_back(parse_decoder_input(name));
  }
  if (!line.encoder_input.empty()) {
    options.features = parse_input_spec(line.encoder_input, "--encoder_input");
  }
  check_files(options, line.prompt_file);
  options.threads = static_cast<size_t>(std::max(line.threads, 0));
  if (!line.prompt_file.empty()) {
    const std::vector<std::byte> bytes = read_file(line.prompt_file);
    options.prompt.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return options;
}

}  // namespace vitrine::tools
