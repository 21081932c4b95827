// Chooses the nodes that a backend takes.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "aot/graph/ops_to_keep.h"
#include "aot/lowering/backend.h"

namespace vitrine::aot {

struct DelegationSpec {
  std::shared_ptr<const Backend> backend;
  std::vector<CompileSpec> compile_specs;
};

// Why a node was not taken.
struct Rejection {
  std::string rule;    // the rule it broke: "padding must not be negative"
  std::string remedy;  // what would change that; may be empty
  const Node* node = nullptr;
};

struct PartitionResult {
  std::map<std::string, DelegationSpec> tags;
  std::vector<Rejection> rejections;
};

class Partitioner {
 public:
  virtual ~Partitioner() = default;
  // Sets NodeMeta::delegation_tag of nodes, in subgraphs too. Must not change anything else.
  virtual PartitionResult partition(ExportedProgram& program) const = 0;
  // Operators that must not be decomposed for it. See EdgeOptions::ops_to_keep.
  virtual OpsToKeep ops_to_keep(const ExportedProgram&) const { return {}; }
};

}  // namespace vitrine::aot
