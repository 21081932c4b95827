// Records the source nodes of each operator while a backend compiles a delegate.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "aot/graph/lowered_module.h"

namespace vitrine::aot {

// The equivalent of ExecuTorch's DelegateMappingBuilder. An entry may have several nodes, and a
// node may be in several entries. Nodes without a handle have the debug handle 0. A failed
// insertion throws AotError and adds no entry. An insertion of nodes that all lack handles fails,
// but still uses up a generated identifier.
class DelegateMappingBuilder {
 public:
  // If `generated_identifiers` is set, the identifiers are 0, 1, 2 ..., and insertions must not
  // pass an identifier. Otherwise each insertion must pass a new number or string.
  explicit DelegateMappingBuilder(bool generated_identifiers = false)
      : generated_identifiers_(generated_identifiers) {}

  // Adds an entry with the nodes' debug handles. At least one node must have a handle. Returns the
  // entry's identifier.
  DelegateIdentifier insert(std::span<const Node* const> nodes,
                            std::optional<DelegateIdentifier> identifier = {});
  DelegateIdentifier insert(const Node& node, std::optional<DelegateIdentifier> identifier = {});
  DelegateIdentifier insert_handles(std::span<const uint32_t> handles,
                                    std::optional<DelegateIdentifier> identifier = {});

  // Returns the entries in order of insertion. The handles of an entry are ascending and distinct.
  const DelegateMap& mapping() const { return mapping_; }

 private:
  DelegateIdentifier insert_entry(std::span<const uint32_t> handles,
                                  std::optional<DelegateIdentifier> identifier);

  bool generated_identifiers_;
  uint32_t next_ = 0;
  DelegateMap mapping_;
};

}  // namespace vitrine::aot
