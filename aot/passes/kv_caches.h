// Finds a model's writes to key and value caches in buffers. Replaces the writes with
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

// A cache in a buffer with the dims [batch, position, head, value] or, unless positions_first is
// true, [batch, head, position, value]. The llama operators need positions first, so the second
// form is reinterpreted as [batch * head, position, 1, value]. `view` is the node whose sizes the
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

  // Finds caches and their writes without changing the graph. Adds a line to `kept` for each write
  // that cannot be replaced.
  void find(IndexValues& values, std::vector<std::string>& kept);
  // Replaces the writes. Returns the number of replaced writes.
  size_t replace_writes();

  // Returns the cache whose `view` is `node`, or null.
  const KvCache* cache_of(const Node* node) const;
  // Returns `start` as an integer or a node if the only write to the cache has the same start and
  // count and runs before `at`. Otherwise, the result is empty.
  std::optional<Argument> start_of_write(const KvCache& cache, const LinearSum& start,
                                         const SymInt& count, const Node& at) const;
  // Returns the names of the buffers whose shape flatten_cache() changed.
  std::set<std::string> flat_buffers() const;

 private:
  std::string visit(Node& node, IndexValues& values);
  std::string add_write(Node& buffer, size_t dim, CacheWrite write);
  std::string find_commit(const Node& buffer, CacheWrite& write) const;
  // Returns a sum as a constant or a node. Reuses the node of an earlier call with the same sum, or
  // else inserts a node before `at`. `max_value` is an upper bound of the sum.
  Argument number(const LinearSum& sum, Node& at, int64_t max_value);
  void replace(const KvCache& cache, CacheWrite& write);
  void remove_mutation(const Node& buffer, const CacheWrite& write);

  ExportedProgram& program_;
  std::map<std::string, KvCache> caches_;                   // keyed by the buffer's placeholder
  std::vector<std::pair<std::string, size_t>> order_;       // writes in execution order
  std::map<std::string, Argument> numbers_;                 // keyed by the text of the sum
  std::unordered_map<const Node*, Node*> buffer_of_write_;  // write whose result is the buffer
};

// Changes a buffer from [b, h, p, v] to [b * h, p, 1, v]. Returns a view with the original sizes,
// which the buffer's users read.
Node* flatten_cache(ExportedProgram& program, Node& buffer, std::shared_ptr<const Origin> origin);

}  // namespace vitrine::aot
