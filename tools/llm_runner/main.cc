// llm_runner: a language model's text on the command line, with the statistics of ExecuTorch's
// runner.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>

#include "host/files.h"
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

// The first Ctrl-C ends the text, a second one the process.
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

int64_t wall_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

// One program, its tokenizer, and what the command line wants of them.
class LlmRunner {
 public:
  explicit LlmRunner(const LlmOptions& options)
      : options_(options),
        session_({options.model, options.data, options.threads, {}, !options.portable}),
        profile_(RunnerProfile::make(options)) {
    if (!options.tokenizer.empty()) tokenizer_ = load_tokenizer(options.tokenizer);
    load_start_ms_ = wall_ms();
    const uint64_t start_ns = platform::now_ns();
    method_ =
        session_.load_method(options.method, profile_ ? &profile_->profiler().tracer() : nullptr);
    init_ns_ = platform::now_ns() - start_ns;
    load_end_ms_ = wall_ms();
    method_->set_tracer(nullptr);
    decoder_ = std::make_unique<MethodDecoder>(session_.program(), *method_);
    for (const std::string& note : decoder_->notes()) {
      fmt::print(stderr, "llm_runner: {}\n", note);
    }
    generator_ = std::make_unique<TextGenerator>(*decoder_, tokenizer_.get());
  }

  void run() {
    if (options_.warmup) {
      generate(options_.prompt, {});
      generator_->reset();
    }
    if (profile_) {
      method_->set_tracer(&profile_->profiler().tracer());
      generator_->set_observer(&profile_->profiler());
    }
    if (options_.chat) {
      chat();
    } else {
      continue_prompt();
    }
    if (profile_) profile_->report(session_, *method_, decoder_->info(), init_ns_);
  }

 private:
  void continue_prompt() {
    const bool prints_text = tokenizer_ != nullptr && !options_.print_ids;
    if (prints_text) write(options_.prompt);
    const Generation result = generate(options_.prompt, [&](const NewToken& token) {
      if (prints_text) write(token.text);
    });
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
    return options_.prompt_ids.empty()
               ? generator_->generate(prompt, options_.generate, on_token)
               : generator_->generate(options_.prompt_ids, options_.generate, on_token);
  }

  void chat() {
    if (tokenizer_ == nullptr) throw GenerationError("--chat wants a tokenizer");
    GenerateOptions options = options_.generate;
    std::string line;
    while (std::getline(std::cin, line)) {
      std::string turn = options_.chat_format;
      turn.replace(turn.find("{}"), 2, line);
      const InterruptGuard guard(*generator_);
      const Generation result =
          generator_->generate(turn, options, [this](const NewToken& token) { write(token.text); });
      fmt::print(text_file(), "\n");
      print_statistics(result);
      options.encode.num_bos = 0;  // the conversation has begun
    }
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
  std::unique_ptr<Method> method_;
  std::unique_ptr<MethodDecoder> decoder_;
  std::unique_ptr<TextGenerator> generator_;
  int64_t load_start_ms_ = 0;
  int64_t load_end_ms_ = 0;
  uint64_t init_ns_ = 0;
};

}  // namespace
}  // namespace vitrine::tools

int main(int argc, char** argv) {
  try {
    int exit_code = 0;
    const auto options = vitrine::tools::parse_llm_options(argc, argv, &exit_code);
    if (!options) return exit_code;
    vitrine::tools::LlmRunner(*options).run();
    vitrine::tools::flush_standard_output();
    return 0;
  } catch (const std::exception& error) {
    std::fflush(stdout);
    fmt::print(stderr, "llm_runner: {}\n", error.what());
    return 1;
  }
}
