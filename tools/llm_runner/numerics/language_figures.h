// Figures and notes that the reports of a language model's errors share.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "inspector/compare/tensor_difference.h"
#include "tools/llm_runner/numerics/language_numerics.h"

namespace vitrine::tools {

// Returns the errors of a layer's cache over all positions. If the roles are unknown, the first
// cache counts as keys and the second cache as values.
std::optional<inspector::TensorDifference> cache_figures(const llm::LayerErrors& layer,
                                                         llm::CacheRole role);
// Returns the errors of all layers' caches in one range of positions.
std::optional<inspector::TensorDifference> caches_in(const llm::LanguageNumerics& numerics,
                                                     llm::CacheRole role, size_t range);
// Returns "k cache" and "v cache" or, if a role is unknown, "cache 1" and "cache 2".
std::pair<const char*, const char*> cache_names(const llm::LanguageNumerics& numerics);
// Returns the errors of the logits at all positions.
inspector::TensorDifference all_logits(const llm::LanguageNumerics& numerics);

std::vector<std::string> notes_of(const llm::LanguageNumerics& numerics);

}  // namespace vitrine::tools
