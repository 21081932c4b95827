#include "python/language_model.h"

#include <variant>

#include "vitrine/decoder_methods.h"

namespace vitrine::python {

namespace py = pybind11;

LanguageModel::LanguageModel(const std::filesystem::path& program,
                             const std::filesystem::path& tokenizer, size_t threads,
                             const std::vector<std::filesystem::path>& data)
    : session_({program, data, threads}), tokenizer_(load_tokenizer(tokenizer)) {
  const DecoderMethodNames names = find_decoder_methods(*session_.program(), {});
  const auto load = [this](const std::string& name) -> Method* {
    if (name.empty()) return nullptr;
    methods_.push_back(session_.load_method(name));
    return methods_.back().get();
  };
  DecoderMethods methods;
  methods.decode = load(names.decode);
  methods.prefill = load(names.prefill);
  methods.encoder = load(names.encoder);
  methods.embedding = load(names.embedding);
  methods.inputs = names.inputs;
  decoder_ = std::make_unique<MethodDecoder>(session_.program(), methods);
  if (methods.encoder != nullptr && !decoder_->info().encodes_prompt && !decoder_->inserts_rows()) {
    throw GenerationError(
        "the program's encoder takes features (speech, images), which only llm_runner supports");
  }
  generator_ = std::make_unique<TextGenerator>(*decoder_, tokenizer_.get());
}

Generation LanguageModel::generate(const std::variant<std::string, std::vector<TokenId>>& prompt,
                                   const GenerateOptions& options, const py::object& on_text) {
  TokenCallback on_token;
  if (!on_text.is_none()) {
    on_token = [&on_text](const NewToken& token) {
      if (token.text.empty()) return;
      const py::gil_scoped_acquire gil;
      on_text(py::str(token.text.data(), token.text.size()));
    };
  }
  const py::gil_scoped_release released_gil;
  const std::scoped_lock lock(mutex_);
  return std::visit(
      [&](const auto& given) { return generator_->generate(given, options, on_token); }, prompt);
}

void LanguageModel::reset() {
  const std::scoped_lock lock(mutex_);
  generator_->reset();
}

}  // namespace vitrine::python
