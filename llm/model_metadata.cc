#include "llm/model_metadata.h"

#include <fmt/format.h>

#include <limits>

#include "vitrine/text_generator.h"

namespace vitrine {
namespace {

[[noreturn]] void fail(std::string_view method, std::string_view what) {
  throw GenerationError(fmt::format("metadata method {}: {}", method, what));
}

bool has_method(const Program& program, std::string_view name) {
  for (size_t i = 0; i < program.num_methods(); ++i) {
    if (program.method_name(i) == name) return true;
  }
  return false;
}

struct MetadataSource {
  const std::shared_ptr<const Program>& program;
  const MethodLimits& limits;
};

// Runs a metadata method. Returns its integers or booleans, or an empty list if the program lacks
// the method.
std::vector<int64_t> constants(const MetadataSource& source, const char* name) {
  if (!has_method(*source.program, name)) return {};
  Result<std::unique_ptr<Method>> method =
      Method::load(source.program, name, {.limits = source.limits, .check_plan = &refuse_overlaps});
  if (!method.ok()) fail(name, method.error().message());
  if ((*method)->num_inputs() != 0) fail(name, "must not have inputs");
  if (const Error error = (*method)->execute(); !error.ok()) fail(name, error.message());
  std::vector<int64_t> values;
  for (size_t i = 0; i < (*method)->num_outputs(); ++i) {
    const EValue& value = (*method)->output(i);
    if (value.tag() == EValue::Tag::kInt) {
      values.push_back(value.unchecked_int());
    } else if (value.tag() == EValue::Tag::kBool) {
      values.push_back(value.unchecked_bool() ? 1 : 0);
    } else {
      fail(name, "must return integers or booleans only");
    }
  }
  if (values.empty()) fail(name, "returns nothing");
  return values;
}

std::optional<int64_t> constant(const MetadataSource& source, const char* name) {
  const std::vector<int64_t> values = constants(source, name);
  if (values.empty()) return std::nullopt;
  if (values.size() != 1)
    fail(name, fmt::format("returned {} values, expected one", values.size()));
  return values[0];
}

std::optional<int64_t> positive(const MetadataSource& source, const char* name) {
  const std::optional<int64_t> value = constant(source, name);
  if (value && *value <= 0)
    fail(name, fmt::format("returned {}, expected a positive number", *value));
  return value;
}

std::optional<bool> flag(const MetadataSource& source, const char* name) {
  const std::optional<int64_t> value = constant(source, name);
  return value ? std::optional(*value != 0) : std::nullopt;
}

std::vector<TokenId> tokens(const MetadataSource& source, const char* name) {
  std::vector<TokenId> ids;
  for (const int64_t id : constants(source, name)) {
    if (id < 0 || id > std::numeric_limits<TokenId>::max()) {
      fail(name, fmt::format("returned {}, which is not a token id", id));
    }
    ids.push_back(static_cast<TokenId>(id));
  }
  return ids;
}

}  // namespace

ModelMetadata read_metadata(const std::shared_ptr<const Program>& program,
                            const MethodLimits& limits) {
  const MetadataSource source{program, limits};
  ModelMetadata metadata;
  metadata.max_seq_len = positive(source, "get_max_seq_len");
  metadata.max_context_len = positive(source, "get_max_context_len");
  metadata.vocabulary = positive(source, "get_vocab_size");
  metadata.use_kv_cache = flag(source, "use_kv_cache");
  metadata.enable_dynamic_shape = flag(source, "enable_dynamic_shape");
  for (const char* name : {"get_eos_ids", "get_eos_id"}) {
    if (metadata.eos_ids.empty()) metadata.eos_ids = tokens(source, name);
  }
  const std::vector<TokenId> starts = tokens(source, "decoder_start_token_id");
  if (!starts.empty()) metadata.start_id = starts.front();
  return metadata;
}

}  // namespace vitrine
