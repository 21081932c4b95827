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

  // Returns the row into which the nodes with this handle are folded, or nullopt if `rows` is empty
  // or the graph lacks the handle. Searches only nodes whose handles are in `call`. A producer
  // absorbs its user, so the first search goes toward inputs and returns the last row of the
  // nearest node that has rows. The second search goes toward users and returns the first row of
  // such a node. If both searches fail, returns the first row of the handle that is nearest in
  // graph order.
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
