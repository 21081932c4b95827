#include "vitrine/decoder_methods.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "vitrine/text_generator.h"

namespace vitrine {
namespace {

// Method names of exporters, the most common name first.
constexpr std::string_view kDecodeNames[] = {"forward", "decode", "text_decoder", "decoder"};
constexpr std::string_view kPrefillNames[] = {"prefill"};
constexpr std::string_view kEncoderNames[] = {"encoder", "vision_encoder", "audio_encoder"};
constexpr std::string_view kEmbeddingNames[] = {"token_embedding"};

// Placeholder tokens for an image or audio in prompts, the most common tokens first.
constexpr std::string_view kImageTokens[] = {"<image>",   "<|image_pad|>", "<image_soft_token>",
                                             "<|image|>", "[IMG]",         "<IMG_CONTEXT>"};
constexpr std::string_view kAudioTokens[] = {"<audio>",   "<|audio_pad|>", "<audio_soft_token>",
                                             "<|audio|>", "[AUDIO]",       "<|AUDIO|>"};

constexpr std::array<std::pair<std::string_view, DecoderInput>, 3> kInputNames = {
    {{"ids", DecoderInput::kIds},
     {"position", DecoderInput::kPosition},
     {"encoded", DecoderInput::kEncoded}}};

// Methods without inputs return constants.
std::vector<std::string> methods_with_inputs(const Program& program) {
  std::vector<std::string> names;
  for (size_t i = 0; i < program.num_methods(); ++i) {
    const Result<MethodMeta> meta = program.method_meta(program.method_name(i));
    if (meta.ok() && meta->num_inputs() != 0) names.emplace_back(program.method_name(i));
  }
  return names;
}

[[noreturn]] void fail(const std::string& what, const std::vector<std::string>& names) {
  throw GenerationError(
      fmt::format("{}; methods with inputs: {}", what,
                  names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
}

std::string first_of(std::span<const std::string_view> candidates,
                     const std::vector<std::string>& names) {
  for (const std::string_view name : candidates) {
    if (std::ranges::count(names, name) != 0) return std::string(name);
  }
  return {};
}

bool takes_floats(const MethodMeta& meta) {
  for (size_t i = 0; i < meta.num_inputs(); ++i) {
    if (meta.input_tag(i) == EValue::Tag::kTensor &&
        meta.input_tensor(i).dtype != ScalarType::kLong) {
      return true;
    }
  }
  return false;
}

}  // namespace

DecoderMethodNames find_decoder_methods(const Program& program, DecoderMethodNames given) {
  const std::vector<std::string> names = methods_with_inputs(program);
  for (const std::string* name :
       {&given.decode, &given.prefill, &given.encoder, &given.embedding}) {
    if (!name->empty() && std::ranges::count(names, *name) == 0) {
      fail(fmt::format("the program has no method {}", *name), names);
    }
  }
  if (given.decode.empty()) {
    given.decode = first_of(kDecodeNames, names);
    if (given.decode.empty() && names.size() == 1) given.decode = names[0];
    if (given.decode.empty()) fail("cannot tell which method decodes: specify --method", names);
    if (given.prefill.empty()) given.prefill = first_of(kPrefillNames, names);
  }
  if (takes_floats(*program.method_meta(given.decode))) {
    if (given.encoder.empty()) given.encoder = first_of(kEncoderNames, names);
    if (given.embedding.empty()) given.embedding = first_of(kEmbeddingNames, names);
  }
  return given;
}

std::optional<TokenId> find_row_id(const Tokenizer* tokenizer, std::string_view encoder,
                                   std::string_view name) {
  if (!name.empty()) {
    if (const auto id = tokenizer == nullptr ? std::nullopt : tokenizer->id_of(name)) return id;
    TokenId id = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
    if (error == std::errc() && end == name.data() + name.size() && id >= 0) return id;
    throw GenerationError(
        fmt::format("\"{}\" is neither a token of the tokenizer nor an id", name));
  }
  if (tokenizer == nullptr) return std::nullopt;
  const bool is_audio = encoder.find("audio") != std::string_view::npos;
  for (const std::string_view token : is_audio ? kAudioTokens : kImageTokens) {
    if (const auto id = tokenizer->id_of(token)) return id;
  }
  return std::nullopt;
}

DecoderInput parse_decoder_input(std::string_view name) {
  for (const auto& [known, input] : kInputNames) {
    if (name == known) return input;
  }
  throw GenerationError(
      fmt::format("a decoder input must be ids, position or encoded, got \"{}\"", name));
}

}  // namespace vitrine
