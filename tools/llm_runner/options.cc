#include "tools/llm_runner/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <limits>
#include <sstream>

#include "host/files.h"
#include "host/input_file.h"
#include "host/report_options.h"

namespace vitrine::tools {
namespace {

// As the command line has it.
struct LlmCommandLine {
  LlmOptions options;
  std::string prompt_file;
  std::string prompt_ids;
  int threads = -1;
  int64_t seq_len = 128;
  uint64_t seed = 0;
  std::vector<std::string> method_inputs;
  std::string encoder_input;
  TokenId start_id = 0;
};

void add_stock_flags(CLI::App& app, LlmCommandLine& line) {
  LlmOptions& options = line.options;
  options.model = "llama2.pte";
  app.add_option("--model_path", options.model, "program (.pte)")->capture_default_str();
  app.add_option("--data_paths", options.data, "data of the program (.ptd), separated by commas")
      ->delimiter(',');
  app.add_option("--tokenizer_path", options.tokenizer,
                 "SentencePiece, tokenizer.json, tiktoken or llama2.c (default: tokenizer.bin)");
  app.add_option("--prompt", options.prompt, "text to continue");
  app.add_option("--prompt_file", line.prompt_file, "file with it");
  app.add_option("--temperature", options.generate.sampling.temperature,
                 "0: always the most probable token")
      ->capture_default_str();
  app.add_option("--seq_len", line.seq_len,
                 "most tokens of prompt and answer, where max_new_tokens is not given")
      ->capture_default_str();
  app.add_option("--max_new_tokens", options.generate.max_new_tokens, "most tokens of the answer")
      ->capture_default_str();
  app.add_option("--cpu_threads", line.threads, "-1 or 0: as many as performing cores")
      ->capture_default_str();
  app.add_option("--num_bos", options.generate.encode.num_bos, "begin tokens before the prompt")
      ->check(CLI::Range(0, 16));
  app.add_option("--num_eos", options.generate.encode.num_eos, "end tokens after it")
      ->check(CLI::Range(0, 16));
  app.add_flag("--warmup,!--nowarmup", options.warmup, "generate once before, unseen");
  app.add_flag("--ignore_eos,!--noignore_eos", options.generate.ignore_eos,
               "go on after end tokens");
  app.add_option("--method_name,--method", options.methods.decode,
                 "method that decodes, of several (default: forward, decode or text_decoder)");
  app.add_option("--etdump_path", options.etdump,
                 "write the traces of a few steps (ETDump): a sample, and the slowest");
}

void add_own_flags(CLI::App& app, LlmCommandLine& line) {
  LlmOptions& options = line.options;
  SamplerOptions& sampling = options.generate.sampling;
  app.add_option("--top_p", sampling.top_p, "sample of the most probable tokens with this sum")
      ->capture_default_str();
  app.add_option("--top_k", sampling.top_k, "or of so many; 0: by --top_p")
      ->check(CLI::Range(0, std::numeric_limits<int32_t>::max()))
      ->capture_default_str();
  app.add_option("--seed", line.seed, "same seed, same text (default: the time)");
  app.add_option("--prompt_ids", line.prompt_ids, "ids instead of a prompt: 1,15043")
      ->excludes("--prompt")
      ->excludes("--prompt_file");
  app.add_flag("--print_ids", options.print_ids, "ids of prompt and answer, not text");
  app.get_option("--prompt")->excludes("--prompt_file");
  CLI::Option* chat =
      app.add_flag("--chat", options.chat, "each line of the standard input is a turn");
  for (const char* other :
       {"--prompt", "--prompt_file", "--prompt_ids", "--print_ids", "--warmup"}) {
    chat->excludes(other);
  }
  options.chat_format = "{}";
  app.add_option("--chat_format", options.chat_format, "what a turn becomes; {} is the line")
      ->needs("--chat");
  app.add_flag("--add_template", options.generate.encode.add_template,
               "also the tokens that a tokenizer.json puts around a text");
  app.add_flag("--portable", options.portable, "run without the optimised kernels");
  add_backend_flags(OptionGroup(app, "Backends"), options.backend);
}

void add_method_flags(CLI::App& app, LlmCommandLine& line) {
  LlmOptions& options = line.options;
  const OptionGroup group(app, "Programs of several methods");
  group.add_option("--prefill_method", options.methods.prefill,
                   "takes the prompt, over the cache of the one that decodes (default: prefill)");
  group.add_option("--encoder_method", options.methods.encoder,
                   "its result goes to each call, or among the prompt's rows (default: encoder, "
                   "vision_encoder, audio_encoder)");
  group.add_option("--embedding_method", options.methods.embedding,
                   "its rows are fed in place of ids (default: token_embedding)");
  group
      .add_option("--method_inputs", line.method_inputs,
                  "what the inputs are, in order, where shapes do not tell: ids,position,encoded")
      ->delimiter(',');
  group
      .add_option("--encoder_input", line.encoder_input,
                  "raw features for the encoder, with their shape where it may differ: "
                  "speech.bin:1x80x3000")
      ->type_name("FILE");
  group.add_option("--encoder_token", options.row_token,
                   "token of the prompt, or its id, in whose place the encoder's rows stand "
                   "(default: <image>, <audio> or what the tokenizer has for these)");
  group.add_option("--start_id", line.start_id,
                   "begins what follows an encoder (default: the program's)");
  group
      .add_option("--context", options.decoder.max_context,
                  "positions of the cache, where the program does not say")
      ->check(CLI::Range(1, std::numeric_limits<int32_t>::max()));
}

void add_profiling_flags(CLI::App& app, LlmCommandLine& line) {
  LlmOptions& options = line.options;
  const OptionGroup group(app, "Profiling");
  group.add_flag("--profile", options.profile,
                 "print what tokens cost: each op, prefill beside decode");
  group
      .add_option("--etrecord", options.etrecord,
                  "record of a program that carries none: source ops and modules")
      ->type_name("FILE");
  group.add_flag("--roofline", options.roofline,
                 "and the share of this machine's bandwidth (measured once, then kept)");
  group
      .add_option("--compare", options.compare,
                  "two profiles (--format json) side by side, phase by phase; or one and, with "
                  "--profile, this run")
      ->type_name("A.json [B.json]")
      ->expected(1, 2);
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
    throw CLI::ValidationError("--prompt_ids",
                               fmt::format("\"{}\" is not an id; expected 1,15043", item));
  }
  return ids;
}

// As ExecuTorch's flags are read: one dash or two, and the last of equal ones counts.
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
  std::vector<std::filesystem::path> read = {options.model, options.tokenizer, options.etrecord,
                                             prompt_file};
  read.insert(read.end(), options.data.begin(), options.data.end());
  read.insert(read.end(), options.compare.begin(), options.compare.end());
  if (options.features) read.push_back(options.features->file);
  const std::filesystem::path written[] = {options.report.file, options.etdump};
  check_outputs(written, read);
}

void check_profiling_flags(const CLI::App& app, const LlmOptions& options) {
  if (options.report.costs || options.report.ids) {
    throw CLI::ValidationError("--costs and --ids", "do not go with a profile of tokens");
  }
  if (options.report.format == ReportFormat::kJsonl) {
    throw CLI::ValidationError("--format", "jsonl does not go with a profile of tokens");
  }
  const bool has_report = options.profile || !options.compare.empty();
  for (const char* flag : {"--roofline", "--etrecord"}) {
    if (!options.profile && app.count(flag) != 0)
      throw CLI::ValidationError(flag, "needs --profile");
  }
  for (const char* flag : {"--output", "--format", "--width", "--group_by", "--top", "--filter"}) {
    if (has_report || app.count(flag) == 0) continue;
    throw CLI::ValidationError(flag, "needs --profile or --compare");
  }
  if (options.compare.empty()) return;
  check_is_table_or_json(options.report, "with --compare");
  if (!options.report.view.filter.empty()) {
    throw CLI::ValidationError("--filter", "does not go with --compare");
  }
  if (options.profile != (options.compare.size() == 1)) {
    throw CLI::ValidationError("--compare", "takes two profiles, or one with --profile");
  }
}

}  // namespace

std::optional<LlmOptions> parse_llm_options(int argc, char** argv, int* exit_code) {
  LlmCommandLine line;
  CLI::App app("Runs a language model: continues a prompt, or chats.", "llm_runner");
  add_stock_flags(app, line);
  add_own_flags(app, line);
  add_method_flags(app, line);
  add_profiling_flags(app, line);
  try {
    std::vector<std::string> arguments(argv + 1, argv + argc);
    read_like_stock_flags(app, arguments);
    std::ranges::reverse(arguments);  // as parse() takes them
    app.parse(std::move(arguments));
    check_profiling_flags(app, line.options);
    if (app.count("--prompt_ids") != 0) line.options.prompt_ids = parse_ids(line.prompt_ids);
    std::erase(line.options.data, "");  // the stock default
    if (line.options.chat_format.find("{}") == std::string::npos) {
      throw CLI::ValidationError("--chat_format", "has no {}");
    }
  } catch (const CLI::ParseError& error) {
    *exit_code = app.exit(error) == 0 ? 0 : 1;
    return std::nullopt;
  }
  LlmOptions options = std::move(line.options);
  // The stock default bounds one text: a chat goes on to the end of the context.
  const bool has_bound = !options.chat || app.count("--seq_len") != 0;
  if (options.generate.max_new_tokens < 0 && has_bound) options.generate.seq_len = line.seq_len;
  if (options.tokenizer.empty() && options.prompt_ids.empty() && line.encoder_input.empty()) {
    options.tokenizer = "tokenizer.bin";
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
