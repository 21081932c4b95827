// Finds the operator into which a node of a delegate's graph was folded.
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

  // Returns the row nearest to the nodes of `handle`. Searches only nodes whose handle is in
  // `call`, first toward inputs (a producer absorbs its user), then toward users. If the found
  // handle has several rows, returns the last row when searching toward inputs, and the first row
  // when searching toward users. If no row is found, returns the row of the nearest node in graph
  // order. Empty if `rows` is empty or the graph has no node with the handle.
  std::optional<size_t> find(etrecord::DebugHandle handle,
                             const std::set<etrecord::DebugHandle>& call,
                             const HandleRows& rows) const;

 private:
  using Links = std::vector<std::vector<size_t>>;
  const std::vector<size_t>* walk(const std::vector<size_t>& start, bool to_inputs,
                                  const std::set<etrecord::DebugHandle>& call,
                                  const HandleRows& rows) const;

  const etrecord::EdgeGraph& graph_;
  Links users_;  // indexed by node
};

}  // namespace vitrine::inspector
