#include "tokenizers/hugging_face/metaspace.h"

#include <algorithm>

#include "tokenizers/hugging_face/replacement.h"

namespace vitrine::hugging_face {
namespace {

constexpr std::pair<std::string_view, Metaspace::Prepend> kSchemes[] = {
    {"always", Metaspace::Prepend::kAlways},
    {"first", Metaspace::Prepend::kFirst},
    {"never", Metaspace::Prepend::kNever},
};

}  // namespace

Metaspace::Metaspace(const JsonValue& step) : replacement(one_character(step.at("replacement"))) {
  if (step.holds("prepend_scheme")) {
    const JsonValue name = step.at("prepend_scheme");
    const auto* scheme =
        std::ranges::find(kSchemes, name.string(), [](const auto& s) { return s.first; });
    if (scheme == std::end(kSchemes)) name.fail("must be \"always\", \"first\" or \"never\"");
    prepend = scheme->second;
  } else if (step.holds("add_prefix_space")) {  // older files
    prepend = step.at("add_prefix_space").boolean() ? Prepend::kAlways : Prepend::kNever;
  }
  if (step.holds("split")) split = step.at("split").boolean();
}

}  // namespace vitrine::hugging_face
