#include "tools/llm_runner/loaded_decoder.h"

#include <fmt/format.h>

#include <filesystem>

#include "runtime/platform/clock.h"
#include "tools/common/messages.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {

SessionOptions session_options(const LlmOptions& options) {
  return {options.model, options.data, options.threads, options.backend.parsed(),
          !options.portable};
}

std::unique_ptr<Tokenizer> find_tokenizer(const LlmOptions& options) {
  if (options.tokenizer == kDefaultTokenizer && !std::filesystem::exists(options.tokenizer)) {
    throw ToolError(fmt::format(
        "no tokenizer was given, and the default file {} does not exist: give a tokenizer with "
        "--tokenizer, or ids with --prompt_ids",
        kDefaultTokenizer));
  }
  return options.tokenizer.empty() ? nullptr : load_tokenizer(options.tokenizer);
}

void LoadedDecoder::load(const LlmOptions& options, const Tokenizer* tokenizer,
                         const LoadTracer& tracer) {
  const uint64_t start_ns = platform::now_ns();
  const DecoderMethods methods = load_methods(options.methods, tracer);
  init_ns_ = platform::now_ns() - start_ns;
  MethodDecoderOptions decoding = options.decoder;
  if (encoder_ == nullptr && !options.row_token.empty()) {
    throw GenerationError("--encoder_token: the program has no encoder");
  }
  if (encoder_ != nullptr) {
    decoding.row_id = find_row_id(tokenizer, encoder_->meta().name(), options.row_token);
  }
  decoder_ = std::make_unique<MethodDecoder>(session_.program(), methods, decoding);
  for (const std::string& note : decoder_->notes()) print_note(note);
}

DecoderMethods LoadedDecoder::load_methods(const DecoderMethodNames& given,
                                           const LoadTracer& tracer) {
  const DecoderMethodNames names = find_decoder_methods(*session_.program(), given);
  const auto load = [&](const std::string& name) -> Method* {
    if (name.empty()) return nullptr;
    methods_.push_back(session_.load_method(name, tracer ? tracer(methods_.size()) : nullptr));
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

}  // namespace vitrine::tools
