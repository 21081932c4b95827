// Finds a model's writes to key and value caches in buffers, and replaces these writes with
// llama::update_cache, which writes only the positions that change.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "aot/passes/index_values.h"

namespace vitrine::aot {

// A write to a cache: to `count` positions that start at `start`, or to the positions in `indices`.
struct CacheWrite {
  Node* call = nullptr;  // the in-place write, or the functional call that computes the new buffer
  Node* result = nullptr;  // the node that users of the call read instead; null: the complete cache
  Node* commit = nullptr;  // for a functional call: the copy_ of its result into the buffer, if any
  Node* value = nullptr;
  SymInt count;
  std::optional<LinearSum> start;
  Node* indices = nullptr;  // integers [count]; null if `start` is set
  Node* update = nullptr;   // the call of llama::update_cache that replaces the write
};

// A cache that is stored in a buffer. The dims of the buffer are [batch, position, head, value] if
// positions_first is true, and otherwise [batch, head, position, value]. The llama operators need
// the positions before the heads. For this reason, the second form is reinterpreted as
// [batch * head, position, 1, value]. The bytes stay the same. `view` is the node whose sizes the
// model uses: the buffer itself, or a view of the buffer.
struct KvCache {
  Node* buffer = nullptr;
  Node* view = nullptr;
  bool positions_first = false;
  int64_t batch = 0;
  int64_t heads = 0;
  int64_t positions = 0;
  int64_t width = 0;
  std::vector<CacheWrite> writes;

  bool is_flat() const { return view != buffer; }
};

class KvCaches {
 public:
  explicit KvCaches(ExportedProgram& program) : program_(program) {}

  // Finds caches and the writes to them, without changing the graph. For each write that cannot be
  // replaced, adds a line with the reason to `kept`.
  void find(IndexValues& values, std::vector<std::string>& kept);
  // Replaces the writes with llama::update_cache or update_cache_with_indices. Returns the number
  // of replaced writes.
  size_t replace_writes();

  // Returns the cache whose `view` is `node`, or null if there is none.
  const KvCache* cache_of(const Node* node) const;
  // Returns `start` as an integer or a node if the cache has exactly one write, and this write has
  // the same start and count and runs before `at`. Otherwise, the result is empty.
  std::optional<Argument> start_of_write(const KvCache& cache, const LinearSum& start,
                                         const SymInt& count, const Node& at) const;
  // Returns the names of the buffers whose shape flatten_cache() changed.
  std::set<std::string> flat_buffers() const;

 private:
  std::string visit(Node& node, IndexValues& values);
  std::string add_write(Node& buffer, size_t dim, CacheWrite write);
  std::string find_commit(const Node& buffer, CacheWrite& write) const;
  // Returns the value of a sum as an argument: a constant or a node. Reuses the node of an earlier
  // call with the same sum, and otherwise inserts a node before `at`. `max_value` is the largest
  // possible value of the sum.
  Argument number(const LinearSum& sum, Node& at, int64_t max_value);
  void replace(const KvCache& cache, CacheWrite& write);
  void remove_mutation(const Node& buffer, const CacheWrite& write);

  ExportedProgram& program_;
  std::map<std::string, KvCache> caches_;                   // keyed by the buffer's placeholder
  std::vector<std::pair<std::string, size_t>> order_;       // writes in execution order
  std::map<std::string, Argument> numbers_;                 // keyed by the text of the sum
  std::unordered_map<const Node*, Node*> buffer_of_write_;  // write whose result is the buffer
};

// Changes the sizes of a buffer [b, h, p, v] to [b * h, p, 1, v], and lets its users read a view
// with the original sizes. Returns the view.
Node* flatten_cache(ExportedProgram& program, Node& buffer, std::shared_ptr<const Origin> origin);

}  // namespace vitrine::aot
