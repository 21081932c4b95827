#include "aot/lowering/delegate_mapping_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/graph/aot_error.h"

namespace vitrine::aot {
namespace {

std::string text_of(const DelegateIdentifier& identifier) {
  if (const uint32_t* number = std::get_if<uint32_t>(&identifier))
    return fmt::format("{}", *number);
  return fmt::format("\"{}\"", std::get<std::string>(identifier));
}

}  // namespace

DelegateIdentifier DelegateMappingBuilder::insert(std::span<const Node* const> nodes,
                                                  std::optional<DelegateIdentifier> identifier) {
  std::vector<uint32_t> handles;
  for (const Node* node : nodes) handles.push_back(node->meta.debug_handle);
  return insert_entry(handles, std::move(identifier));
}

DelegateIdentifier DelegateMappingBuilder::insert(const Node& node,
                                                  std::optional<DelegateIdentifier> identifier) {
  const Node* const pointer = &node;
  return insert({&pointer, 1}, std::move(identifier));
}

DelegateIdentifier DelegateMappingBuilder::insert_handles(
    std::span<const uint32_t> handles, std::optional<DelegateIdentifier> identifier) {
  return insert_entry(handles, std::move(identifier));
}

DelegateIdentifier DelegateMappingBuilder::insert_entry(
    std::span<const uint32_t> handles, std::optional<DelegateIdentifier> identifier) {
  if (generated_identifiers_ && identifier.has_value()) {
    throw AotError(
        fmt::format("delegate map: identifiers are generated, so the identifier {} must not be set",
                    text_of(*identifier)));
  }
  if (!generated_identifiers_ && !identifier.has_value()) {
    throw AotError(
        "delegate map: the entry needs an identifier, because identifiers are not generated");
  }
  if (identifier.has_value() &&
      std::ranges::find(mapping_, *identifier, &DelegateMap::value_type::first) != mapping_.end()) {
    throw AotError(
        fmt::format("delegate map: the identifier {} already has an entry", text_of(*identifier)));
  }
  if (generated_identifiers_) identifier = next_++;
  std::vector<uint32_t> known(handles.begin(), handles.end());
  std::erase(known, 0U);
  std::ranges::sort(known);
  // clang 14 cannot compile code that uses the result of std::ranges::unique.
  known.erase(std::unique(known.begin(), known.end()), known.end());
  if (known.empty()) {
    throw AotError(
        fmt::format("delegate map: the entry {} needs at least one node with a debug handle",
                    text_of(*identifier)));
  }
  mapping_.emplace_back(*identifier, std::move(known));
  return *identifier;
}

}  // namespace vitrine::aot
