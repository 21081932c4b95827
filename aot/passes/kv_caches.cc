#include "aot/passes/kv_caches.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "aot/graph/aot_error.h"
#include "aot/graph/pass.h"
#include "aot/operators/decomposition.h"

namespace vitrine::aot {
namespace {

constexpr size_t kCacheRank = 4;

bool precedes(const Node& a, const Node& b) {
  for (const Node* node = a.next(); node != nullptr; node = node->next()) {
    if (node == &b) return true;
  }
  return false;
}

// A write to a part of a tensor along one dim: to the indices in `indices` or, if `indices` is
// null, to `count` indices from `start` on.
struct RegionWrite {
  Node* tensor = nullptr;
  Node* value = nullptr;
  size_t dim = 0;
  Argument start;
  Node* indices = nullptr;  // null: `start` is used
  SymInt count = 1;
};

bool is_op(const Node& node, std::initializer_list<std::string_view> ops) {
  return node.is_call() && node.target().dialect() == Dialect::kAten &&
         node.target().name_space() == "aten" && std::ranges::count(ops, node.target().op()) != 0;
}

std::optional<RegionWrite> index_put_region(const Node& node, const Call& call) {
  const Argument* argument = call.find("indices");
  const ArgumentList* indices = argument == nullptr ? nullptr : argument->list();
  if (indices == nullptr || call.boolean("accumulate", false)) return std::nullopt;
  RegionWrite region;
  region.tensor = &call.node("self");
  region.value = &call.node("values");
  for (size_t i = 0; i < indices->size(); ++i) {
    if ((*indices)[i].is_none()) continue;
    if (region.indices != nullptr) return std::nullopt;
    region.indices = (*indices)[i].node();
    region.dim = i;
  }
  const bool is_vector = region.indices != nullptr && region.indices->tensor() != nullptr &&
                         region.indices->tensor()->rank() == 1 && node.tensor() != nullptr;
  if (!is_vector) return std::nullopt;
  region.count = region.indices->tensor()->sizes[0];
  return region;
}

// Sets `tensor`, `dim` and `start` from slice, narrow, select, slice_scatter or select_scatter.
void set_start(const Call& call, bool is_select, RegionWrite& region) {
  region.tensor = &call.node("self");
  region.dim = wrapped(call.integer("dim", 0), region.tensor->tensor()->rank());
  const Argument* start = call.find(is_select ? "index" : "start");
  region.start = 0;
  if (start != nullptr) region.start = *start;
}

std::optional<RegionWrite> region_of(const Node& node) {
  const Call call(node);
  if (is_op(node, {"index_put", "index_put_"})) return index_put_region(node, call);
  RegionWrite region;
  if (is_op(node, {"index_copy", "index_copy_"})) {
    region.tensor = &call.node("self");
    region.dim = wrapped(call.integer("dim"), region.tensor->tensor()->rank());
    region.indices = &call.node("index");
    region.value = &call.node("source");
    if (region.indices->tensor()->rank() != 1) return std::nullopt;
    region.count = region.indices->tensor()->sizes[0];
    return region;
  }
  if (is_op(node, {"slice_scatter", "select_scatter"})) {
    const bool is_select = node.target().op() == "select_scatter";
    if (call.integer("step", 1) != 1) return std::nullopt;
    set_start(call, is_select, region);
    region.value = &call.node("src");
    if (!is_select) region.count = size_at(region.value, region.dim);
    return region;
  }
  if (!is_op(node, {"copy_"})) return std::nullopt;
  const Node& view = call.node("self");
  if (!is_op(view, {"slice", "narrow", "select"})) return std::nullopt;
  const Call of_view(view);
  if (of_view.integer("step", 1) != 1) return std::nullopt;
  region.value = call.optional_node("src");
  if (region.value == nullptr || !same(region.value->tensor()->sizes, view.tensor()->sizes)) {
    return std::nullopt;
  }
  const bool is_select = view.target().op() == "select";
  set_start(of_view, is_select, region);
  if (!is_select) region.count = size_at(&view, region.dim);
  return region;
}

// True if the sizes of `value` equal `sizes`. Ignores dims of size 1.
bool has_sizes(const TensorSpec& value, const std::vector<SymInt>& sizes) {
  const auto trimmed = [](const std::vector<SymInt>& all) {
    std::vector<SymInt> kept;
    for (const SymInt& size : all) {
      if (!(size == SymInt(1))) kept.push_back(size);
    }
    return kept;
  };
  return same(trimmed(value.sizes), trimmed(sizes));
}

bool is_functional(const Node& node) { return !node.target().op().ends_with('_'); }

std::string text_of(const LinearSum& sum) {
  std::string text = std::to_string(sum.constant);
  for (const auto& [term, coefficient] : sum.terms) {
    text += fmt::format(" + {} {}", coefficient, term);
  }
  return text;
}

Node* int_call(Node& at, Target target, ArgumentList args, SymInt value) {
  Value::Number number;
  number.value = std::move(value);
  return insert_like(at, target, std::move(args), {}, number);
}

// True if the sum is a nonnegative constant, or a node plus such a constant.
bool is_node_plus_constant(const LinearSum& sum) {
  if (sum.constant < 0 || sum.terms.size() > 1) return false;
  return sum.terms.empty() ||
         (sum.terms.begin()->first.starts_with('%') && sum.terms.begin()->second == 1);
}

SymInt new_symbol(ExportedProgram& program, Range range) {
  for (size_t i = 0;; ++i) {
    // The prefix "p" distinguishes the new symbol from PyTorch's symbols, such as "s0".
    const std::string name = fmt::format("p{}", i);
    if (!program.range_constraints.emplace(name, range).second) continue;
    return SymInt(Expression::symbol(name));
  }
}

}  // namespace

void KvCaches::find(IndexValues& values, std::vector<std::string>& kept) {
  for (Node& node : program_.graph->nodes()) {
    if (!node.is_call() || node.target().dialect() != Dialect::kAten) continue;
    run_at_node(node.name(), [&] {
      const std::string reason = visit(node, values);
      if (!reason.empty())
        kept.push_back(fmt::format("cache write not replaced: node {}: {}", node.name(), reason));
    });
  }
}

// Records a write to a cache. Returns the reason if the write cannot be replaced, otherwise "".
std::string KvCaches::visit(Node& node, IndexValues& values) {
  const std::optional<RegionWrite> region = region_of(node);
  if (!region) return "";
  const auto known = buffer_of_write_.find(region->tensor);
  Node& buffer = known == buffer_of_write_.end() ? *region->tensor : *known->second;
  const InputSpec* input =
      buffer.kind() == Node::Kind::kPlaceholder ? program_.input_of(buffer.name()) : nullptr;
  const TensorSpec* spec = buffer.tensor();
  if (input == nullptr || input->kind != InputSpec::Kind::kBuffer || spec->rank() != kCacheRank ||
      !spec->is_static() || program_.data_of(*input) == nullptr) {
    return "";
  }
  if (region->dim != 1 && region->dim != 2) {
    return fmt::format("the positions are in dim {}, not in dim 1 or 2", region->dim);
  }
  CacheWrite write;
  write.call = &node;
  write.value = region->value;
  write.count = region->count;
  std::vector<SymInt> sizes = spec->sizes;
  sizes[region->dim] = region->count;
  if (region->value->tensor()->dtype != spec->dtype ||
      !has_sizes(*region->value->tensor(), sizes)) {
    return "the written value differs in dtype or shape from the cache";
  }
  if (region->indices == nullptr) {
    write.start = values.integer(region->start);
  } else if (std::optional<LinearSum> at = values.integer(region->indices)) {
    if (!(region->count == SymInt(1))) {
      const auto one = at->terms.find("axis 0");
      if (one != at->terms.end() && one->second == 1)
        at->terms.erase(one);
      else
        at = std::nullopt;
    }
    write.start = at;
  }
  if (write.start && !is_node_plus_constant(*write.start)) write.start = {};
  if (!write.start && region->indices == nullptr) return "its first position is unknown";
  if (!write.start) write.indices = region->indices;
  if (is_op(node, {"copy_"})) write.result = node.need(0).node();
  if (is_functional(node)) {
    std::string reason = find_commit(buffer, write);
    if (!reason.empty()) return reason;
  }
  return add_write(buffer, region->dim, std::move(write));
}

// Finds the call that stores the result of a functional write in the buffer. Returns the reason if
// the write cannot be done in place, and otherwise "".
std::string KvCaches::find_commit(const Node& buffer, CacheWrite& write) const {
  for (Node* user : write.call->users()) {
    const bool commits = is_op(*user, {"copy_"}) && user->need(0).node() == &buffer &&
                         user->need(1).node() == write.call;
    if (commits) write.commit = user;
  }
  const bool is_result = std::ranges::any_of(program_.signature.outputs, [&](const auto& output) {
    return output.kind == OutputSpec::Kind::kBufferMutation && output.name == write.call->name() &&
           output.target == program_.input_of(buffer.name())->target;
  });
  if (write.commit == nullptr && !is_result) return "its result is not stored in the buffer";
  if (is_written(*write.call)) return "another call writes to its result";
  for (const Node* user : buffer.users()) {
    if (user == write.call || user == write.commit) continue;
    const bool reads_later = write.commit != nullptr && precedes(*write.commit, *user) &&
                             !is_in_place(user->target()) && !is_written(*user);
    if (!reads_later) return "another call reads or writes the buffer before the result is stored";
  }
  return "";
}

std::string KvCaches::add_write(Node& buffer, size_t dim, CacheWrite write) {
  const auto [found, is_new] = caches_.try_emplace(buffer.name());
  KvCache& cache = found->second;
  const bool positions_first = dim == 1;
  if (is_new) {
    const std::vector<SymInt>& sizes = buffer.tensor()->sizes;
    cache.buffer = cache.view = &buffer;
    cache.positions_first = positions_first;
    cache.batch = sizes[0].value();
    cache.heads = sizes[positions_first ? 2 : 1].value();
    cache.positions = sizes[dim].value();
    cache.width = sizes[3].value();
  } else if (cache.positions_first != positions_first) {
    return "other writes to the cache have their positions in another dim";
  }
  if (!(write.count.is_static() && write.count.value() <= cache.positions) &&
      !upper_bound(write.count, program_.range_constraints)) {
    return "the number of written positions is unbounded";
  }
  if (write.result == nullptr) buffer_of_write_[write.call] = &buffer;
  if (write.commit != nullptr) buffer_of_write_[write.commit] = &buffer;
  order_.emplace_back(buffer.name(), cache.writes.size());
  cache.writes.push_back(std::move(write));
  return "";
}

size_t KvCaches::replace_writes() {
  for (auto& [name, cache] : caches_) {
    if (cache.positions_first || cache.writes.empty()) continue;
    cache.view = flatten_cache(program_, *cache.buffer, cache.writes.front().call->meta.origin);
  }
  size_t replaced = 0;
  for (const auto& [name, index] : order_) {
    KvCache& cache = caches_.at(name);
    CacheWrite& write = cache.writes[index];
    run_at_node(write.call->name(), [&] { replace(cache, write); });
    ++replaced;
  }
  return replaced;
}

Argument KvCaches::number(const LinearSum& sum, Node& at, int64_t max_value) {
  if (sum.terms.empty()) return sum.constant;
  const auto [found, is_new] = numbers_.try_emplace(text_of(sum));
  if (!is_new) return found->second;
  Node* root = program_.graph->find(sum.terms.begin()->first.substr(1));
  if (root == nullptr) throw AotError("the node with the first position is not in the graph");
  if (root->tensor() != nullptr) {
    while (rank_of(root) > 0) {
      const Target select = Target::of("aten.select.int");
      ArgumentList args = {root, 0, 0};
      Value value = infer(select, args);
      root = insert_like(at, select, std::move(args), {}, std::move(value));
    }
    root =
        int_call(at, Target::of("aten.item.default"), {root}, new_symbol(program_, {0, max_value}));
  }
  if (sum.constant != 0) {
    const SymInt value = root->meta.value.number()->value + SymInt(sum.constant);
    root = int_call(at, Target::of("_operator.add", Dialect::kPython), {root, sum.constant}, value);
  }
  return found->second = Argument(root);
}

void KvCaches::replace(const KvCache& cache, CacheWrite& write) {
  Decomposition to(program_, *write.call);
  const int64_t batch = cache.positions_first ? cache.batch : cache.batch * cache.heads;
  const SymInt heads = cache.positions_first ? cache.heads : 1;
  Node* value = to.reshape(write.value, {batch, write.count, heads, cache.width});
  const TensorSpec unused = contiguous_spec(cache.buffer->tensor()->dtype, {1});
  if (write.start) {
    const Argument start = number(*write.start, *write.call, cache.positions - 1);
    write.update = to.call("llama.update_cache.default", {value, cache.buffer, start}, unused);
  } else {
    Node* indices = to.convert(to.reshape(write.indices, {1, write.count}), ScalarType::kLong);
    if (batch > 1) {
      indices = to.make("aten.clone.default", {to.expand(indices, {batch, write.count})},
                        {{"memory_format", MemoryFormat::kContiguous}});
    }
    write.update = to.call("llama.update_cache_with_indices.default",
                           {value, cache.buffer, 0, indices}, unused);
  }
  if (is_functional(*write.call) && write.commit == nullptr) remove_mutation(*cache.buffer, write);
  if (write.commit != nullptr) replace_node(program_, *write.commit, *cache.view);
  replace_node(program_, *write.call, write.result == nullptr ? *cache.view : *write.result);
  write.call = nullptr;
}

// Removes the buffer's final value from the outputs, because a call writes in place now.
void KvCaches::remove_mutation(const Node& buffer, const CacheWrite& write) {
  const std::string& target = program_.input_of(buffer.name())->target;
  ArgumentList results = *program_.graph->output()->need(0).list();
  std::vector<OutputSpec>& outputs = program_.signature.outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].kind != OutputSpec::Kind::kBufferMutation || outputs[i].target != target ||
        outputs[i].name != write.call->name()) {
      continue;
    }
    const auto at = static_cast<std::ptrdiff_t>(i);
    results.erase(results.begin() + at);
    outputs.erase(outputs.begin() + at);
    program_.graph->output()->set_args({Argument::tuple(std::move(results))});
    return;
  }
}

const KvCache* KvCaches::cache_of(const Node* node) const {
  const auto found = std::ranges::find_if(caches_, [&](const auto& cache) {
    return cache.second.view == node && !cache.second.writes.empty();
  });
  return found == caches_.end() ? nullptr : &found->second;
}

std::optional<Argument> KvCaches::start_of_write(const KvCache& cache, const LinearSum& start,
                                                 const SymInt& count, const Node& at) const {
  if (cache.writes.size() != 1) return std::nullopt;
  const CacheWrite& write = cache.writes.front();
  if (write.start != start || !same(write.count, count) || write.update == nullptr ||
      !precedes(*write.update, at)) {
    return std::nullopt;
  }
  if (start.terms.empty()) return Argument(start.constant);
  const auto found = numbers_.find(text_of(start));
  return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

std::set<std::string> KvCaches::flat_buffers() const {
  std::set<std::string> names;
  for (const auto& [name, cache] : caches_) {
    if (cache.is_flat()) names.insert(program_.input_of(name)->target);
  }
  return names;
}

Node* flatten_cache(ExportedProgram& program, Node& buffer, std::shared_ptr<const Origin> origin) {
  const TensorSpec before = *buffer.tensor();
  const int64_t rows = before.sizes[0].value() * before.sizes[1].value();
  const std::vector<int64_t> sizes = {rows, before.sizes[2].value(), 1, before.sizes[3].value()};
  const InputSpec& input = *program.input_of(buffer.name());
  for (TensorMap* weights : {&program.state_dict, &program.constants}) {
    const auto found = weights->find(input.target);
    if (found == weights->end()) continue;
    const bool requires_grad = found->second.requires_grad;
    found->second = make_tensor_data(before.dtype, sizes, row_major_bytes(found->second));
    found->second.requires_grad = requires_grad;
  }
  TensorSpec spec = contiguous_spec(before.dtype, {sizes.begin(), sizes.end()});
  spec.device = before.device;
  buffer.meta.value = spec;
  Node* first = &program.graph->nodes().front();
  while (!first->is_call()) first = first->next();
  ArgumentList model_sizes;
  for (const SymInt& size : before.sizes) model_sizes.emplace_back(size.value());
  Node* view = program.graph->call(Target::of("aten.view.default"),
                                   {&buffer, Argument::list(std::move(model_sizes))}, {}, first);
  view->meta.value = contiguous_spec(before.dtype, before.sizes);
  view->meta.origin = std::move(origin);
  buffer.replace_all_uses_with(view, view);
  for (OutputSpec& output : program.signature.outputs) {
    if (output.name == buffer.name()) output.name = view->name();
  }
  return view;
}

}  // namespace vitrine::aot
