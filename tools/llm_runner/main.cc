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
#include "tools/llm_runner/options.h"
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
        session_({options.model, options.data, options.threads, {}, !options.portable}) {
    if (!options.tokenizer.empty()) tokenizer_ = load_tokenizer(options.tokenizer);
    load_start_ms_ = wall_ms();
    method_ = session_.load_method(options.method);
    load_end_ms_ = wall_ms();
    decoder_ = std::make_unique<MethodDecoder>(session_.program(), *method_);
    for (const std::string& note : decoder_->notes()) {
      fmt::print(stderr, "llm_runner: {}\n", note);
    }
    generator_ = std::make_unique<TextGenerator>(*decoder_, tokenizer_.get());
  }

  void run() {
    if (options_.chat) {
      chat();
      return;
    }
    if (options_.warmup) {
      generate(options_.prompt, {});
      generator_->reset();
    }
    const bool prints_text = tokenizer_ != nullptr && !options_.print_ids;
    if (prints_text) write(options_.prompt);
    const Generation result = generate(options_.prompt, [&](const NewToken& token) {
      if (prints_text) write(token.text);
    });
    if (!prints_text) {
      fmt::print("prompt: {}\nanswer: {}", fmt::join(result.prompt, " "),
                 fmt::join(result.ids, " "));
    }
    fmt::print("\n");
    print_statistics(result);
  }

 private:
  static void write(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
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
          generator_->generate(turn, options, [](const NewToken& token) { write(token.text); });
      fmt::print("\n");
      print_statistics(result);
      options.encode.num_bos = 0;  // the conversation has begun
    }
  }

  void print_statistics(Generation result) const {
    result.statistics.model_load_start_ms = load_start_ms_;
    result.statistics.model_load_end_ms = load_end_ms_;
    fmt::print("PyTorchObserver {}\n", result.statistics.json());
    std::fflush(stdout);
  }

  const LlmOptions& options_;
  Session session_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::unique_ptr<Method> method_;
  std::unique_ptr<MethodDecoder> decoder_;
  std::unique_ptr<TextGenerator> generator_;
  int64_t load_start_ms_ = 0;
  int64_t load_end_ms_ = 0;
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
