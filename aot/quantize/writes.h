// Finds tensors that in-place calls change.
#pragma once

#include <unordered_map>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

// The writes to each tensor of a graph. Valid until the graph changes.
class Writes {
 public:
  explicit Writes(const ExportedProgram& program);
  // True if a call writes to the tensor or to memory that the tensor may share.
  bool is_written(const Node& tensor) const { return last_write_of(tensor) != 0; }
  // True if a later call writes to the tensor, or to memory that the tensor may share.
  bool is_written_later(const Node& tensor) const {
    return last_write_of(tensor) > positions_.at(&tensor);
  }

 private:
  size_t last_write_of(const Node& tensor) const;

  std::unordered_map<const Node*, const Node*> roots_;   // the tensor whose memory a tensor shares
  std::unordered_map<const Node*, size_t> positions_;    // from 1
  std::unordered_map<const Node*, size_t> last_writes_;  // by root
};

}  // namespace vitrine::aot
