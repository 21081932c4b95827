// Caches of keys and values that a model keeps in buffers: how it writes to them, and the same
// writes by llama::update_cache, which touches only what changes.
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

// A write of `count` positions from `start` on, or to those that a tensor names.
struct CacheWrite {
  Node* call = nullptr;    // what writes or, of functional forms, gives what the buffer becomes
  Node* result = nullptr;  // what users of the call read; null: the whole cache
  Node* commit = nullptr;  // the copy_ into the buffer, if a functional form has one
  Node* value = nullptr;
  SymInt count;
  std::optional<LinearSum> start;
  Node* indices = nullptr;  // where there is no start: integers [count]
  Node* update = nullptr;   // the call that came in its place
};

// A buffer [batch, head, position, value] or, if positions come first, [batch, position, head,
// value]. The operators want the latter; the former's bytes are those of [batch * head, position,
// 1, value], which is what the buffer becomes. `whole` has the model's dims.
struct KvCache {
  Node* buffer = nullptr;
  Node* whole = nullptr;
  bool positions_first = false;
  int64_t batch = 0;
  int64_t heads = 0;
  int64_t positions = 0;
  int64_t width = 0;
  std::vector<CacheWrite> writes;

  bool is_flat() const { return whole != buffer; }
};

class KvCaches {
 public:
  explicit KvCaches(ExportedProgram& program) : program_(program) {}

  // Changes nothing yet. `kept` gets a line for each write to such a buffer that stays, and why.
  void find(IndexValues& values, std::vector<std::string>& kept);
  // Writes by llama::update_cache, or update_cache_with_indices. Returns the number of writes.
  size_t replace_writes();

  // Null if it is not the whole of a cache.
  const KvCache* cache_of(const Node* whole) const;
  // Where the only write of `count` positions, which precedes `at`, starts, if that is `start`: an
  // integer, or a node that is one.
  std::optional<Argument> start_of_write(const KvCache& cache, const LinearSum& start,
                                         const SymInt& count, const Node& at) const;
  // Names of the buffers that became flat.
  std::set<std::string> flat_buffers() const;

 private:
  std::string visit(Node& node, IndexValues& values);
  std::string add_write(Node& buffer, size_t dim, CacheWrite write);
  std::string find_commit(const Node& buffer, CacheWrite& write) const;
  // The sum as an argument: of a node that is made before `at`, unless it is there.
  Argument number(const LinearSum& sum, Node& at, int64_t most);
  void replace(const KvCache& cache, CacheWrite& write);
  void store_by_writing(const Node& buffer, const CacheWrite& write);

  ExportedProgram& program_;
  std::map<std::string, KvCache> caches_;                   // by the buffer's placeholder
  std::vector<std::pair<std::string, size_t>> order_;       // writes in order of execution
  std::map<std::string, Argument> numbers_;                 // by the sum's text
  std::unordered_map<const Node*, Node*> buffer_of_write_;  // results that are the buffer
};

// Gives a buffer [b, h, p, v] the sizes [b * h, p, 1, v], and its users a view with the former.
Node* flatten_cache(ExportedProgram& program, Node& buffer, std::shared_ptr<const Origin> origin);

}  // namespace vitrine::aot
