// llm_runner: generates text with a language model and prints the statistics of ExecuTorch's
// runner.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>
#include <random>

#include "tools/common/command_line.h"
#include "tools/common/files.h"
#include "tools/common/input_file.h"
#include "tools/common/interrupt.h"
#include "tools/common/messages.h"
#include "tools/common/progress.h"
#include "tools/common/session.h"
#include "tools/common/tool_error.h"
#include "tools/llm_runner/loaded_decoder.h"
#include "tools/llm_runner/numerics/run_numerics.h"
#include "tools/llm_runner/options.h"
#include "tools/llm_runner/perplexity.h"
#include "tools/llm_runner/profiling.h"
#include "tools/vitrine/commands.h"
#include "vitrine/method_decoder.h"
#include "vitrine/text_generator.h"
#include "vitrine/tokenizer.h"

namespace vitrine::tools {
namespace {

std::atomic<TextGenerator*> interrupted_generator = nullptr;

// The first Ctrl-C ends the generation or, in a chat, the wait for the user's message. The second
// Ctrl-C cancels the execution, and the third Ctrl-C ends the process.
class InterruptGuard {
 public:
  explicit InterruptGuard(TextGenerator& generator) {
    interrupted_generator = &generator;
    struct sigaction action = {};
    action.sa_handler = [](int) {
      if (TextGenerator* running = interrupted_generator.exchange(nullptr)) {
        running->stop();
      } else {
        cancel_executions();
      }
    };
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

// Replaces each {} in `format` with `line`.
std::string formatted_turn(std::string_view format, std::string_view line) {
  std::string turn;
  for (size_t at = 0; (at = format.find("{}")) != std::string_view::npos;) {
    turn += format.substr(0, at);
    turn += line;
    format.remove_prefix(at + 2);
  }
  return turn += format;
}

// Shows the progress of long prompts. Forwards all events to the profiler, if present.
class PrefillProgress : public GenerationObserver {
 public:
  void set_next(GenerationObserver* next) { next_ = next; }

  void on_prompt(uint64_t start_ns, uint64_t encoded_ns) override {
    progress_.emplace("reading the prompt");
    first_.reset();
    if (next_ != nullptr) next_->on_prompt(start_ns, encoded_ns);
  }
  void begin_step(const GenerationStep& step) override {
    if (step.is_prefill && progress_) {
      if (!first_) first_ = step.position;
      progress_->update(static_cast<size_t>(step.position - *first_),
                        static_cast<size_t>(std::max<int64_t>(step.prompt_end - *first_, 1)));
    }
    if (next_ != nullptr) next_->begin_step(step);
  }
  void end_step(const GenerationStep& step) override {
    if (next_ != nullptr) next_->end_step(step);
  }
  // Removes the progress line. Must be called before the first text is printed.
  void finish() { progress_.reset(); }

 private:
  GenerationObserver* next_ = nullptr;
  std::optional<Progress> progress_;
  std::optional<int64_t> first_;  // position where the prompt begins
};

int64_t wall_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

std::vector<TokenId> random_ids(size_t count, size_t vocabulary) {
  std::mt19937_64 generator;
  std::vector<TokenId> ids(count);
  for (TokenId& id : ids) id = static_cast<TokenId>(generator() % vocabulary);
  return ids;
}

class LlmRunner {
 public:
  explicit LlmRunner(const LlmOptions& options)
      : options_(options),
        loaded_(session_options(options)),
        profile_(RunnerProfile::make(options)),
        tokenizer_(find_tokenizer(options)) {
    load_start_ms_ = wall_ms();
    loaded_.load(options, tokenizer_.get(), [this](size_t method) -> EventTracer* {
      return profile_ ? &profile_->profiler().tracer(method) : nullptr;
    });
    load_end_ms_ = wall_ms();
    decoder_ = &loaded_.decoder();
    generator_ = std::make_unique<TextGenerator>(*decoder_, tokenizer_.get());
    prompt_ids_ = options.prompt_ids;
    if (options.random_prompt != 0) {
      prompt_ids_ = random_ids(options.random_prompt, decoder_->info().vocabulary);
    }
    read_features();
  }

  int run() {
    generator_->set_observer(&prefill_);
    if (options_.warmup) {
      if (generate(options_.prompt, {}).reason == StopReason::kStopped) {
        print_note("interrupted during the warm-up");
        return 0;
      }
      generator_->reset();
    }
    if (profile_) {
      for (size_t i = 0; i < loaded_.methods().size(); ++i) {
        loaded_.methods()[i]->set_tracer(&profile_->profiler().tracer(i));
      }
      prefill_.set_next(&profile_->profiler());
    }
    if (options_.chat) {
      chat();
    } else {
      continue_prompt();
    }
    if (!profile_) return 0;
    return profile_->report(loaded_.session(), loaded_.methods(), decoder_->info(),
                            loaded_.init_ns());
  }

 private:
  // Passes --encoder_input to the encoder. The model's start id then replaces an empty prompt.
  void read_features() {
    const Method* const encoder = loaded_.encoder();
    const bool takes_features = encoder != nullptr && !decoder_->info().encodes_prompt;
    const bool is_optional = decoder_->inserts_rows();  // a prompt may have no image
    if (is_optional && !options_.features) return;
    if (takes_features != options_.features.has_value()) {
      throw GenerationError(
          takes_features ? "the program has an encoder: give its input with --encoder_input"
                         : "--encoder_input: the program has no encoder that takes features");
    }
    if (!takes_features) return;
    features_ =
        read_input(*options_.features, 0, encoder->meta().input_tensor(0), "--encoder_input");
    decoder_->encode(features_.mutable_tensor());
    const std::optional<TokenId> start = decoder_->info().start_id;
    if (options_.prompt.empty() && prompt_ids_.empty() && start) prompt_ids_ = {*start};
  }

  void continue_prompt() {
    const bool prints_text = tokenizer_ != nullptr && !options_.print_ids;
    if (prints_text) write(options_.prompt);
    if (prints_text && decoder_->info().encodes_prompt)
      write("\n");  // the answer starts a new line
    Generation result;
    try {
      result = generate(options_.prompt, [&](const NewToken& token) {
        if (prints_text) write(token.text);
      });
    } catch (...) {
      if (prints_text) write("\n");  // the error message starts a new line
      throw;
    }
    if (!prints_text) {
      print_text(text_file(), fmt::format("prompt: {}\nanswer: {}", fmt::join(result.prompt, " "),
                                          fmt::join(result.ids, " ")));
    }
    print_text(text_file(), "\n");
    print_statistics(result);
  }

  // Generated text goes to stderr if a machine-readable report uses stdout.
  std::FILE* text_file() const {
    const ReportOptions& report = options_.report;
    const bool has_report = options_.profile && report.format != ReportFormat::kTable;
    return has_report && report.file.empty() ? stderr : stdout;
  }

  void write(std::string_view text) const {
    print_text(text_file(), std::string(text));
    std::fflush(text_file());
  }

  Generation generate(const std::string& prompt, const TokenCallback& on_token) {
    const InterruptGuard guard(*generator_);
    const auto on_first = [&](const NewToken& token) {
      prefill_.finish();
      if (on_token) on_token(token);
    };
    Generation result = prompt_ids_.empty()
                            ? generator_->generate(prompt, options_.generate, on_first)
                            : generator_->generate(prompt_ids_, options_.generate, on_first);
    prefill_.finish();  // an interrupted prompt leaves a progress line
    return result;
  }

  void chat() {
    if (tokenizer_ == nullptr) throw GenerationError("--chat needs a tokenizer");
    GenerateOptions options = options_.generate;
    for (bool has_room = true; has_room;) {
      const InterruptGuard guard(*generator_);
      std::string line;
      if (!std::getline(std::cin, line)) return;
      if (line.ends_with('\r')) line.pop_back();
      if (line.empty()) continue;
      has_room = answer_turn(formatted_turn(options_.chat_format, line), options);
      options.encode.num_bos = 0;  // begin tokens go before the first turn only
    }
  }

  // Answers a message of the chat. Returns false if the context is too full for an answer.
  bool answer_turn(const std::string& turn, const GenerateOptions& options) {
    Generation result;
    try {
      result = generator_->generate(turn, options, [this](const NewToken& token) {
        prefill_.finish();
        write(token.text);
      });
    } catch (const NoRoomError& error) {
      if (generator_->position() == 0) throw;
      print_note(fmt::format("the chat ends: {}", error.what()));
      return false;
    }
    print_text(text_file(), "\n");
    print_statistics(result);
    return true;
  }

  void print_statistics(Generation result) const {
    result.statistics.model_load_start_ms = load_start_ms_;
    result.statistics.model_load_end_ms = load_end_ms_;
    print_text(text_file(), fmt::format("PyTorchObserver {}\n", result.statistics.json()));
    std::fflush(text_file());
  }

  const LlmOptions& options_;
  LoadedDecoder loaded_;
  std::unique_ptr<RunnerProfile> profile_;  // null without --profile and --etdump_path
  std::unique_ptr<Tokenizer> tokenizer_;
  Array features_;                   // input of the encoder
  std::vector<TokenId> prompt_ids_;  // replace the prompt unless the list is empty
  MethodDecoder* decoder_ = nullptr;
  PrefillProgress prefill_;
  std::unique_ptr<TextGenerator> generator_;
  int64_t load_start_ms_ = 0;
  int64_t load_end_ms_ = 0;
};

}  // namespace

int llm_runner(int argc, char** argv) {
  return run_tool("llm_runner", [&] {
    int exit_code = 0;
    const auto options = parse_llm_options(argc, argv, &exit_code);
    if (!options) return exit_code;
    options->backend.load_libraries();
    if (!options->perplexity.empty()) return run_perplexity(*options);
    if (options->numerics) return run_language_numerics(*options);
    return options->compare.size() == 2 ? compare_saved(*options) : LlmRunner(*options).run();
  });
}

}  // namespace vitrine::tools
