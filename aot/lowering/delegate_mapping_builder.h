// Which nodes each operator of a delegate stands for, as a backend notes it while it compiles.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "aot/graph/lowered_module.h"

namespace vitrine::aot {

// ExecuTorch's DelegateMappingBuilder. The same node may stand in several entries, an entry for
// several nodes. Debug handles that are 0 count as absent. A failed insertion is an AotError and
// changes nothing, but a generated identifier is used up where only the handles were wrong.
class DelegateMappingBuilder {
 public:
  // Generated identifiers are 0, 1, 2 ..., and none may be given. Otherwise each is given: a number
  // or a text, once.
  explicit DelegateMappingBuilder(bool generated_identifiers = false)
      : generated_identifiers_(generated_identifiers) {}

  // The handles of the nodes, of which there must be one at least. Returns the identifier.
  DelegateIdentifier insert(std::span<const Node* const> nodes,
                            std::optional<DelegateIdentifier> identifier = {});
  DelegateIdentifier insert(const Node& node, std::optional<DelegateIdentifier> identifier = {});
  DelegateIdentifier insert_handles(std::span<const uint32_t> handles,
                                    std::optional<DelegateIdentifier> identifier = {});

  // In order of insertion; handles ascending, each once.
  const DelegateMap& mapping() const { return mapping_; }

 private:
  DelegateIdentifier insert_entry(std::span<const uint32_t> handles,
                                  std::optional<DelegateIdentifier> identifier);

  bool generated_identifiers_;
  uint32_t next_ = 0;
  DelegateMap mapping_;
};

}  // namespace vitrine::aot
