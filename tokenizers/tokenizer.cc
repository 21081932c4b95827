#include "vitrine/tokenizer.h"

#include <fmt/format.h>

namespace vitrine {

std::string Tokenizer::decode(std::span<const TokenId> ids, const DecodeOptions& options) const {
  const std::unique_ptr<DecodeStream> stream = make_stream(options, false);
  std::string text;
  for (const TokenId id : ids) text += stream->push(id);
  return text += stream->finish();
}

std::vector<TokenId> Tokenizer::with_ends(std::vector<TokenId> ids,
                                          const EncodeOptions& options) const {
  const auto known = [this](std::optional<TokenId> id, std::string_view what) {
    if (!id) throw TokenizerError(fmt::format("the {} tokenizer has no {} token", form_, what));
    return *id;
  };
  if (options.num_bos > 0) ids.insert(ids.begin(), options.num_bos, known(bos_, "begin"));
  if (options.num_eos > 0) ids.insert(ids.end(), options.num_eos, known(eos_, "end"));
  return ids;
}

}  // namespace vitrine
