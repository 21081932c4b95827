// Finds the operator that absorbed a node of a delegate's graph.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "formats/etrecord/etrecord.h"

namespace vitrine::inspector {

using HandleRows = std::map<etrecord::DebugHandle, std::vector<size_t>>;

class FoldSearch {
 public:
  explicit FoldSearch(const etrecord::EdgeGraph& graph);

  // The row nearest to the nodes of `handle`, walking only over nodes whose handle is in `call`:
  // towards inputs (the producer absorbs), else towards users. A handle with several rows gives
  // its last on the way up and its first on the way down. Without a way, the row of the node that
  // stands nearest in graph order; none only if `rows` is empty.
  std::optional<size_t> find(etrecord::DebugHandle handle,
                             const std::set<etrecord::DebugHandle>& call,
                             const HandleRows& rows) const;

 private:
  using Links = std::vector<std::vector<size_t>>;
  const std::vector<size_t>* walk(const std::vector<size_t>& start, bool to_inputs,
                                  const std::set<etrecord::DebugHandle>& call,
                                  const HandleRows& rows) const;

  const etrecord::EdgeGraph& graph_;
  Links users_;  // by node
};

}  // namespace vitrine::inspector
