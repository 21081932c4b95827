// Loads a language model: its session, its methods and its tokenizer.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tools/common/session.h"
#include "tools/llm_runner/options.h"
#include "vitrine/method.h"
#include "vitrine/method_decoder.h"

namespace vitrine::tools {

// Returns the tracer for loading the method with this index, or null. The tracer is removed after
// loading.
using LoadTracer = std::function<EventTracer*(size_t method)>;

SessionOptions session_options(const LlmOptions& options);

// Loads the tokenizer. Returns null if options.tokenizer is empty. Throws ToolError if the default
// tokenizer file does not exist.
std::unique_ptr<Tokenizer> find_tokenizer(const LlmOptions& options);

class LoadedDecoder {
 public:
  explicit LoadedDecoder(const SessionOptions& session) : session_(session) {}

  // Loads the methods of `options`, and prints the decoder's notes. Call this once, before
  // decoder(). `tokenizer` may be null. The tokenizer has the id of the placeholder tokens for an
  // encoder's rows. Throws ToolError or GenerationError.
  void load(const LlmOptions& options, const Tokenizer* tokenizer, const LoadTracer& tracer = {});

  Session& session() { return session_; }
  MethodDecoder& decoder() { return *decoder_; }
  // The first method decodes.
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
