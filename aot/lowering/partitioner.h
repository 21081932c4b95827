// The interface of partitioners, which choose the nodes to delegate.
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

// The reason why a node was not delegated.
struct Rejection {
  std::string rule;    // the violated rule: "padding must not be negative"
  std::string remedy;  // a change that would make the node delegable; may be empty
  const Node* node = nullptr;
};

struct PartitionResult {
  std::map<std::string, DelegationSpec> tags;
  std::vector<Rejection> rejections;
};

class Partitioner {
 public:
  virtual ~Partitioner() = default;
  // Sets NodeMeta::delegation_tag of the nodes to delegate, also in subgraphs. Must not change
  // anything else.
  virtual PartitionResult partition(ExportedProgram& program) const = 0;
  // Returns the operators that must not be decomposed (EdgeOptions::ops_to_keep).
  virtual OpsToKeep ops_to_keep(const ExportedProgram&) const { return {}; }
};

}  // namespace vitrine::aot
