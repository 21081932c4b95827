// llm_runner: a language model's text on the command line, with the statistics of ExecuTorch's
// runner.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>

#include "host/command_line.h"
#include "host/files.h"
#include "host/input_file.h"
#include "host/session.h"
#include "runtime/platform/clock.h"
#include "tools/llm_runner/options.h"
#include "tools/llm_runner/profiling.h"
#include "vitrine/method_decoder.h"
#include "vitrine/text_generator.h"
#include "vitrine/tokenizer.h"

namespace vitrine::tools {
namespace {

std::atomic<TextGenerator*> interrupted_generator = nullptr;

// The first Ctrl-C ends the text, or the wait for a turn; a second one the process.
class InterruptGuard {
 public:
  explicit InterruptGuard(TextGenerator& generator) {
    interrupted_generator = &generator;
    struct sigaction action = {};
    action.sa_handler = [](int) {
      if (TextGenerator* running = interrupted_generator) running->stop();
    };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, &action, &before_);
  }
  ~InterruptGuard() {
    sigaction(SIGINT, &before_, nullptr);
    interrupted_generator = nullptr;
  }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction before_ = {};
};

// `format` with `line` in place of each {}.
std::string formatted_turn(std::string_view format, std::string_view line) {
  std::string turn;
  for (size_t at = 0; (at = format.find("{}")) != std::string_view::npos;) {
    turn += format.substr(0, at);
    turn += line;
    format.remove_prefix(at + 2);
  }
  return turn += format;
}

int64_t wall_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

// One program, its tokenizer, and what the command line wants of them.
class LlmRunner {
 public:
  explicit LlmRunner(const LlmOptions& options)
      : options_(options),
        session_({options.model, options.data, options.threads, options.backend.parsed(),
                  !options.portable}),
        profile_(RunnerProfile::make(options)) {
    if (!options.tokenizer.empty()) tokenizer_ = load_tokenizer(options.tokenizer);
    load_start_ms_ = wall_ms();
    const uint64_t start_ns = platform::now_ns();
    const DecoderMethods methods = load_methods();
    init_ns_ = platform::now_ns() - start_ns;
    load_end_ms_ = wall_ms();
    MethodDecoderOptions decoding = options.decoder;
    if (encoder_ == nullptr && !options.row_token.empty()) {
      throw GenerationError("--encoder_token: the program has no encoder");
    }
    if (encoder_ != nullptr) {
      decoding.row_id = find_row_id(tokenizer_.get(), encoder_->meta().name(), options.row_token);
    }
    decoder_ = std::make_unique<MethodDecoder>(session_.program(), methods, decoding);
    for (const std::string& note : decoder_->notes()) {
      fmt::print(stderr, "llm_runner: {}\n", note);
    }
    generator_ = std::make_unique<TextGenerator>(*decoder_, tokenizer_.get());
    read_features();
  }

  void run() {
    if (options_.warmup) {
      if (generate(options_.prompt, {}).reason == StopReason::kStopped) {
        fmt::print(stderr, "llm_runner: ended in the warm-up\n");
        return;
      }
      generator_->reset();
    }
    if (profile_) {
      for (size_t i = 0; i < methods_.size(); ++i) {
        methods_[i]->set_tracer(&profile_->profiler().tracer(i));
      }
      generator_->set_observer(&profile_->profiler());
    }
    if (options_.chat) {
      chat();
    } else {
      continue_prompt();
    }
    if (profile_) profile_->report(session_, methods_, decoder_->info(), init_ns_);
  }

 private:
  // Decode is the first one.
  DecoderMethods load_methods() {
    const DecoderMethodNames names = find_decoder_methods(*session_.program(), options_.methods);
    const auto load = [this](const std::string& name) -> Method* {
      if (name.empty()) return nullptr;
      EventTracer* const tracer =
          profile_ ? &profile_->profiler().tracer(methods_.size()) : nullptr;
      methods_.push_back(session_.load_method(name, tracer));
      methods_.back()->set_tracer(nullptr);
      return methods_.back().get();
    };
    DecoderMethods methods;
    methods.decode = load(names.decode);
    methods.prefill = load(names.prefill);
    methods.encoder = encoder_ = load(names.encoder);
    methods.embedding = load(names.embedding);
    methods.inputs = names.inputs;
    return methods;
  }

  // A text about features needs no prompt.
  void read_features() {
    prompt_ids_ = options_.prompt_ids;
    const bool takes_features = encoder_ != nullptr && !decoder_->info().encodes_prompt;
    const bool may_lack = decoder_->inserts_rows();  // a text without images
    if (may_lack && !options_.features) return;
    if (takes_features != options_.features.has_value()) {
      throw GenerationError(takes_features
                                ? "the program has an encoder: give its input, --encoder_input"
                                : "--encoder_input: the program has no encoder of features");
    }
    if (!takes_features) return;
    features_ =
        read_input(*options_.features, 0, encoder_->meta().input_tensor(0), "--encoder_input");
    decoder_->encode(features_.mutable_tensor());
    const std::optional<TokenId> start = decoder_->info().start_id;
    if (options_.prompt.empty() && prompt_ids_.empty() && start) prompt_ids_ = {*start};
  }

  void continue_prompt() {
    const bool prints_text = tokenizer_ != nullptr && !options_.print_ids;
    if (prints_text) write(options_.prompt);
    if (prints_text && decoder_->info().encodes_prompt) write("\n");  // the answer is apart
    Generation result;
    try {
      result = generate(options_.prompt, [&](const NewToken& token) {
        if (prints_text) write(token.text);
      });
    } catch (...) {
      if (prints_text) write("\n");  // the error begins a line
      throw;
    }
    if (!prints_text) {
      fmt::print(text_file(), "prompt: {}\nanswer: {}", fmt::join(result.prompt, " "),
                 fmt::join(result.ids, " "));
    }
    fmt::print(text_file(), "\n");
    print_statistics(result);
  }

  // A report for programs has the standard output to itself.
  std::FILE* text_file() const {
    const ReportOptions& report = options_.report;
    const bool has_report = options_.profile && report.format != ReportFormat::kTable;
    return has_report && report.file.empty() ? stderr : stdout;
  }

  void write(std::string_view text) const {
    std::fwrite(text.data(), 1, text.size(), text_file());
    std::fflush(text_file());
  }

  Generation generate(const std::string& prompt, const TokenCallback& on_token) {
    const InterruptGuard guard(*generator_);
    return prompt_ids_.empty() ? generator_->generate(prompt, options_.generate, on_token)
                               : generator_->generate(prompt_ids_, options_.generate, on_token);
  }

  void chat() {
    if (tokenizer_ == nullptr) throw GenerationError("--chat needs a tokenizer");
    GenerateOptions options = options_.generate;
    for (bool goes_on = true; goes_on;) {
      const InterruptGuard guard(*generator_);
      std::string line;
      if (!std::getline(std::cin, line)) return;
      if (line.ends_with('\r')) line.pop_back();
      if (line.empty()) continue;
      goes_on = take_turn(formatted_turn(options_.chat_format, line), options);
      options.encode.num_bos = 0;  // the conversation has begun
    }
  }

  // Whether another one may follow.
  bool take_turn(const std::string& turn, const GenerateOptions& options) {
    Generation result;
    try {
      result =
          generator_->generate(turn, options, [this](const NewToken& token) { write(token.text); });
    } catch (const NoRoomError& error) {
      if (generator_->position() == 0) throw;
      fmt::print(stderr, "llm_runner: the chat ends: {}\n", error.what());
      return false;
    }
    fmt::print(text_file(), "\n");
    print_statistics(result);
    return true;
  }

  void print_statistics(Generation result) const {
    result.statistics.model_load_start_ms = load_start_ms_;
    result.statistics.model_load_end_ms = load_end_ms_;
    fmt::print(text_file(), "PyTorchObserver {}\n", result.statistics.json());
    std::fflush(text_file());
  }

  const LlmOptions& options_;
  Session session_;
  std::unique_ptr<RunnerProfile> profile_;  // null: none is wanted
  std::unique_ptr<Tokenizer> tokenizer_;
  std::vector<std::unique_ptr<Method>> methods_;
  Method* encoder_ = nullptr;        // of them; null: there is none
  Array features_;                   // for it
  std::vector<TokenId> prompt_ids_;  // instead of the prompt
  std::unique_ptr<MethodDecoder> decoder_;
  std::unique_ptr<TextGenerator> generator_;
  int64_t load_start_ms_ = 0;
  int64_t load_end_ms_ = 0;
  uint64_t init_ns_ = 0;
};

}  // namespace
}  // namespace vitrine::tools

int main(int argc, char** argv) {
  using namespace vitrine::tools;
  return run_tool("llm_runner", [&] {
    int exit_code = 0;
    const auto options = parse_llm_options(argc, argv, &exit_code);
    if (!options) return exit_code;
    if (options->compare.size() == 2) {
      compare_saved(*options);
    } else {
      LlmRunner(*options).run();
    }
    return 0;
  });
}
