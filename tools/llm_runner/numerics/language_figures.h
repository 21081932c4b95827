// Computes figures and notes that the reports of a language model's errors share.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "inspector/compare/tensor_difference.h"
#include "tools/llm_runner/numerics/language_numerics.h"

namespace vitrine::tools {

// Returns the errors of a layer's key cache or value cache, over all positions. If the roles are
// unknown, the first cache counts as keys and the second as values.
std::optional<inspector::TensorDifference> cache_figures(const llm::LayerErrors& layer,
                                                         llm::CacheRole role);
// Returns the errors of all layers' caches in one range of positions.
std::optional<inspector::TensorDifference> caches_in(const llm::LanguageNumerics& numerics,
                                                     llm::CacheRole role, size_t range);
// Names of the key caches and the value caches: "k cache" and "v cache". If a role is unknown, the
// names are "cache 1" and "cache 2".
std::pair<const char*, const char*> cache_names(const llm::LanguageNumerics& numerics);
// Returns the errors of the logits at all positions.
inspector::TensorDifference all_logits(const llm::LanguageNumerics& numerics);

std::vector<std::string> notes_of(const llm::LanguageNumerics& numerics);

}  // namespace vitrine::tools
