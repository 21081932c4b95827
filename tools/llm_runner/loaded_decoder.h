// Loads a language model: opens its session and loads its methods and its tokenizer.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tools/common/session.h"
#include "tools/llm_runner/options.h"
#include "vitrine/method.h"
#include "vitrine/method_decoder.h"

namespace vitrine::tools {

// Returns the tracer to use while the method with this index is loaded, or null. The tracer is
// removed after loading.
using LoadTracer = std::function<EventTracer*(size_t method)>;

// Returns the session's options for the model that `options` names.
SessionOptions session_options(const LlmOptions& options);

// Loads the tokenizer, or returns null if options.tokenizer is empty. Throws ToolError if
// options.tokenizer has its default value and that file does not exist.
std::unique_ptr<Tokenizer> find_tokenizer(const LlmOptions& options);

class LoadedDecoder {
 public:
  explicit LoadedDecoder(const SessionOptions& session) : session_(session) {}

  // Loads the methods that `options` names, and prints the decoder's notes. Call this once, before
  // decoder(). `tokenizer` may be null. It provides the id of the prompt's placeholder tokens,
  // which the rows of an encoder's output replace. Throws ToolError or GenerationError.
  void load(const LlmOptions& options, const Tokenizer* tokenizer, const LoadTracer& tracer = {});

  Session& session() { return session_; }
  MethodDecoder& decoder() { return *decoder_; }
  // All loaded methods. The first method decodes.
  const std::vector<std::unique_ptr<Method>>& methods() const { return methods_; }
  Method* encoder() const { return encoder_; }   // one of methods(), or null
  uint64_t init_ns() const { return init_ns_; }  // time to load the methods

 private:
  DecoderMethods load_methods(const DecoderMethodNames& given, const LoadTracer& tracer);

  Session session_;
  std::vector<std::unique_ptr<Method>> methods_;
  Method* encoder_ = nullptr;
  std::unique_ptr<MethodDecoder> decoder_;
  uint64_t init_ns_ = 0;
};

}  // namespace vitrine::tools
