// Implements vitrine.LanguageModel: a program, its tokenizer, and a conversation.
#pragma once

#include <pybind11/pybind11.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "tools/common/session.h"
#include "vitrine/method_decoder.h"
#include "vitrine/text_generator.h"
#include "vitrine/tokenizer.h"

namespace vitrine::python {

class LanguageModel {
 public:
  // Loads the program and the tokenizer. Throws HostError, GenerationError or TokenizerError.
  LanguageModel(const std::filesystem::path& program, const std::filesystem::path& tokenizer,
                size_t threads, const std::vector<std::filesystem::path>& data);

  // Adds a prompt (text or ids) to the conversation and generates an answer. Passes each piece of
  // the answer to `on_text`, unless `on_text` is None. An exception of `on_text` ends generation.
  // Releases the GIL.
  Generation generate(const std::variant<std::string, std::vector<TokenId>>& prompt,
                      const GenerateOptions& options, const pybind11::object& on_text);
  // Stops a generation that runs in another thread.
  void stop() { generator_->stop(); }
  void reset();
  int64_t position() const { return generator_->position(); }
  int64_t max_context() const { return decoder_->info().max_context; }
  std::vector<TokenId> encode(const std::string& text) const { return tokenizer_->encode(text); }
  std::string decode(const std::vector<TokenId>& ids) const { return tokenizer_->decode(ids); }

 private:
  tools::Session session_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::vector<std::unique_ptr<Method>> methods_;
  std::unique_ptr<MethodDecoder> decoder_;
  std::unique_ptr<TextGenerator> generator_;
  std::mutex mutex_;  // a generator is not thread-safe
};

}  // namespace vitrine::python
