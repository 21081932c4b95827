// Finds ops that one lowering computes separately and the other lowering may have folded into the
// preceding op, such as a batch norm or a relu. The results of the preceding op then differ
// although both lowerings are right.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/etrecord/etrecord.h"
#include "inspector/compare/comparison.h"

namespace vitrine::inspector {

// True if ops with this short name (op_names.h) can be folded into the preceding op.
bool may_be_folded(std::string_view op);
// True if a batch norm can be folded into this op, because the op has weights.
bool may_hold_batch_norm(std::string_view op);

class FoldedUsers {
 public:
  // Looks up the nodes of `graph` in `other`, by debug handle or by op and module (`alignment`).
  // The graphs must outlive the object.
  FoldedUsers(const etrecord::EdgeGraph& graph, const etrecord::EdgeGraph& other,
              Alignment alignment);

  // Returns the users of the node's results that are missing in the other graph and satisfy
  // may_be_folded(). Skips quantize and dequantize nodes in between.
  std::vector<size_t> of(size_t node) const;

  // True if a user of the node's results, such as a hardswish, is missing in the other graph and
  // cannot be folded. The other graph then computes this user as several ops. Skips quantize and
  // dequantize nodes in between.
  bool has_composite(size_t node) const;

 private:
  // Returns the users of the node's results that are missing in the other graph.
  std::vector<size_t> missing_users(size_t node) const;
  std::string key_of(const etrecord::EdgeNode& node) const;
  std::string op_of(size_t node) const;  // short name

  const etrecord::EdgeGraph& graph_;
  bool by_handle_;
  std::vector<std::vector<size_t>> users_;  // indexed by node
  std::map<std::string, int> missing_;      // by key: number of nodes in this graph minus number in
                                            // the other graph
};

}  // namespace vitrine::inspector
