// Records, while a backend compiles, which nodes each operator of a delegate stands for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "aot/graph/lowered_module.h"

namespace vitrine::aot {

// ExecuTorch's DelegateMappingBuilder. A node may be in several entries, and an entry may have
// several nodes. Debug handles of 0 count as absent. A failed insertion throws AotError and changes
// nothing, except that it uses up a generated identifier if only the handles were wrong.
class DelegateMappingBuilder {
 public:
  // With generated identifiers (0, 1, 2 ...), the caller must not give any. Otherwise the caller
  // gives each one, a number or a text, once.
  explicit DelegateMappingBuilder(bool generated_identifiers = false)
      : generated_identifiers_(generated_identifiers) {}

  // Takes the handles of the nodes, at least one. Returns the identifier.
  DelegateIdentifier insert(std::span<const Node* const> nodes,
                            std::optional<DelegateIdentifier> identifier = {});
  DelegateIdentifier insert(const Node& node, std::optional<DelegateIdentifier> identifier = {});
  DelegateIdentifier insert_handles(std::span<const uint32_t> handles,
                                    std::optional<DelegateIdentifier> identifier = {});

  // In order of insertion; handles are ascending and distinct.
  const DelegateMap& mapping() const { return mapping_; }

 private:
  DelegateIdentifier insert_entry(std::span<const uint32_t> handles,
                                  std::optional<DelegateIdentifier> identifier);

  bool generated_identifiers_;
  uint32_t next_ = 0;
  DelegateMap mapping_;
};

}  // namespace vitrine::aot
