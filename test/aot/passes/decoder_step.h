// Builds a decoder step in different forms, like those of exported models. The forms differ in how
// they write caches, read caches and compute the mask.
#pragma once

#include <utility>
#include <vector>

#include "examples/models/seeded_weights.h"
#include "test/aot/optimize/lowered_call.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {

inline constexpr int64_t kStepLength = 6;
inline constexpr int64_t kStepWidth = 4;
inline constexpr double kLowestFloat = -3.4028234663852886e38;

enum class StepWrite {
  kIndexPut,
  kIndexCopy,
  kNarrowCopy,
  kSliceCopy,
  kSelectCopy,
  kCopyOfIndexCopy
};
enum class StepMask {
  kTable,
  kCompared,
  kAddedTable,
  kNarrowedTable,
  kInverted,
  kMultiplied,
  kJoined,
  kWindow,
  kNone
};
enum class StepRepeat { kInterleave, kExpand, kShared, kNone };

struct StepForm {
  const char* name;
  StepWrite write = StepWrite::kIndexPut;
  StepMask mask = StepMask::kTable;
  StepRepeat repeat = StepRepeat::kInterleave;
  bool positions_first = false;
  int64_t batch = 1;
  int64_t heads = 4;  // number of query heads
  int64_t key_heads = 2;
  int64_t count = 1;  // number of positions per call
  bool is_symbolic = false;
  bool counted = false;       // true: positions are arange(count) plus the first position
  bool is_spelled = false;    // true: attention is spelled out as products around a softmax
  bool takes_prefix = false;  // true: attention reads only positions up to the last query
  double fill = -kInfinity;   // masking number of spelled attention
};

inline TensorData causal_step_table(bool added) {
  std::vector<int> is_visible;
  Values numbers;
  for (int64_t i = 0; i < kStepLength * kStepLength; ++i) {
    is_visible.push_back(i % kStepLength <= i / kStepLength ? 1 : 0);
    numbers.push_back(is_visible.back() == 1 ? 0 : -kInfinity);
  }
  if (added) return floats({kStepLength, kStepLength}, numbers);
  return bools({kStepLength, kStepLength}, is_visible);
}

// A decoder step, which writes keys and values and attends to them.
class DecoderStep {
 public:
  explicit DecoderStep(const StepForm& form) : f_(form) {}

  ExportedProgram build() {
    count_ = f_.is_symbolic ? build_.dynamic_size(1, kStepLength - 1) : SymInt(f_.count);
    Node* query =
        build_.input("query", ScalarType::kFloat, {f_.batch, f_.heads, count_, kStepWidth});
    Node* key =
        build_.input("key", ScalarType::kFloat, {f_.batch, f_.key_heads, count_, kStepWidth});
    Node* value =
        build_.input("value", ScalarType::kFloat, {f_.batch, f_.key_heads, count_, kStepWidth});
    const bool is_list = !f_.counted && (f_.is_symbolic || f_.count > 1) &&
                         f_.write != StepWrite::kNarrowCopy && f_.write != StepWrite::kSliceCopy;
    position_ = build_.input("position", ScalarType::kLong, {is_list ? count_ : SymInt(1)});
    if (f_.is_symbolic) size_ = number("aten.sym_size.int", {query, 2}, count_);
    if (f_.counted) {
      Node* range = build_.call("aten.arange.default", {size_}, {{"dtype", ScalarType::kLong}});
      position_ = build_.call("aten.add.Tensor", {range, position_});
    }
    Node* mask = make_mask();
    Node* keys = write("keys", key);
    Node* values = write("values", value);
    if (f_.takes_prefix) {
      keys = prefix(keys, f_.positions_first ? 1 : 2, false);
      values = prefix(values, f_.positions_first ? 1 : 2, true);
      if (mask != nullptr && f_.mask != StepMask::kJoined) mask = prefix(mask, -1, true);
    }
    keys = repeated(keys);
    values = repeated(values);
    Node* made =
        f_.is_spelled ? spelled(query, keys, values, mask) : attention(query, keys, values, mask);
    const auto kept = [&](const char* name) {
      return build_.call("aten.clone.default", {build_.buffer(name, zeros({1}))});
    };
    return build_.finish({made, kept("keys"), kept("values")});
  }

 private:
  Node* number(const char* target, ArgumentList args, SymInt value) {
    Value::Number made;
    made.value = std::move(value);
    return build_.call_as(target, std::move(args), {}, made);
  }
  Node* first() {
    if (first_ == nullptr) {
      Node* one = build_.call("aten.select.int", {position_, 0, 0});
      first_ = number("aten.item.default", {one}, build_.dynamic_size(0, kStepLength - 1));
    }
    return first_;
  }
  // Returns the exclusive end of the positions that this step writes.
  Node* end() {
    if (end_ != nullptr) return end_;
    Node* begin = first();
    return end_ =
               number("_operator.add", {begin, size()}, begin->meta.value.number()->value + count_);
  }
  Node* prefix(Node* rows, int64_t dim, bool slices) {
    if (!slices) return build_.call("aten.narrow.default", {rows, dim, 0, end()});
    TensorSpec spec = *rows->tensor();
    spec.sizes[dim < 0 ? spec.rank() - 1 : static_cast<size_t>(dim)] =
        end()->meta.value.number()->value;
    return build_.call_as("aten.slice.Tensor", {rows, dim, 0, end()}, {}, spec);
  }
  Argument size() const { return size_ != nullptr ? Argument(size_) : Argument(f_.count); }
  // The positions of the queries, [count, 1].
  Node* rows() { return build_.call("aten.unsqueeze.default", {position_, 1}); }

  Node* attention(Node* query, Node* keys, Node* values, Node* mask) {
    ArgumentMap kwargs;
    if (f_.repeat == StepRepeat::kShared) kwargs.emplace_back("enable_gqa", true);
    ArgumentList args = {query, keys, values};
    if (mask != nullptr) args.emplace_back(mask);
    return build_.call("aten.scaled_dot_product_attention.default", std::move(args), kwargs);
  }
  Node* spelled(Node* query, Node* keys, Node* values, Node* mask) {
    keys = build_.call("aten.transpose.int", {keys, -1, -2});
    Node* scores = build_.call("aten.matmul.default", {query, keys});
    scores = build_.call("aten.div.Tensor", {scores, 2.0});
    if (mask->tensor()->dtype == ScalarType::kBool) {
      Node* hidden = build_.call("aten.bitwise_not.default", {mask});
      scores = build_.call("aten.masked_fill.Scalar", {scores, hidden, f_.fill});
    } else {
      scores = build_.call("aten.add.Tensor", {scores, mask});
    }
    Node* weights = build_.call("aten.softmax.int", {scores, -1});
    weights = build_.call("aten.dropout.default", {weights, 0.5, false});
    return build_.call("aten.matmul.default", {weights, values});
  }

  Node* make_mask() {
    if (f_.mask == StepMask::kNone) return nullptr;
    if (f_.mask == StepMask::kTable || f_.mask == StepMask::kAddedTable ||
        f_.mask == StepMask::kNarrowedTable) {
      Node* table =
          build_.buffer("mask", causal_step_table(f_.mask == StepMask::kAddedTable), false);
      if (f_.mask == StepMask::kNarrowedTable) {
        return build_.call("aten.narrow.default", {table, 0, first(), size()});
      }
      return build_.call("aten.index.Tensor", {table, Argument::list({position_})});
    }
    Node* keys = build_.call("aten.arange.default", {kStepLength}, {{"dtype", ScalarType::kLong}});
    if (f_.mask == StepMask::kInverted) {
      Node* hidden = build_.call("aten.gt.Tensor", {keys, rows()});
      Node* lowest = build_.call("aten.scalar_tensor.default", {kLowestFloat});
      Node* none = build_.call("aten.scalar_tensor.default", {0.0});
      Node* added = build_.call("aten.where.self", {hidden, lowest, none});
      added = build_.call("aten.unsqueeze.default", {added, 0});
      return build_.call("aten.unsqueeze.default", {added, 0});
    }
    if (f_.mask == StepMask::kMultiplied) return multiplied(keys);
    if (f_.mask == StepMask::kJoined) return joined();
    Node* visible = build_.call("aten.le.Tensor", {keys, rows()});
    if (f_.mask != StepMask::kWindow) return visible;
    Node* near = build_.call("aten.add.Tensor", {keys, 2});
    near = build_.call("aten.gt.Tensor", {near, rows()});
    return build_.call("aten.bitwise_and.Tensor", {visible, near});
  }

  // Computes the mask in place, like older models of Hugging Face's transformers.
  Node* multiplied(Node* keys) {
    Node* added =
        build_.call("aten.full.default", {Argument::list({size(), kStepLength}), kLowestFloat});
    if (f_.is_symbolic || f_.count > 1) added = build_.call("aten.triu.default", {added, 1});
    Node* hidden = build_.call(
        "aten.gt.Tensor", {keys, build_.call("aten.reshape.default", {position_, Dims{-1, 1}})});
    added = build_.call("aten.mul_.Tensor", {added, hidden});
    for (int i = 0; i < 2; ++i) added = build_.call("aten.unsqueeze.default", {added, i});
    return added;
  }
  // Computes the mask like Meta's Llama: zeros for earlier keys, and a triangle for the keys of
  // this call.
  Node* joined() {
    Node* zeros = build_.call("aten.zeros.default", {Argument::list({size(), first()})});
    Node* added = build_.call("aten.full.default", {Argument::list({size(), size()}), -kInfinity});
    added = build_.call("aten.triu.default", {added, 1});
    return build_.call("aten.cat.default", {Argument::list({zeros, added}), -1});
  }

  Node* write(const char* name, Node* row) {
    const int64_t at = f_.positions_first ? 1 : 2;
    if (f_.positions_first) row = build_.call("aten.transpose.int", {row, 1, 2});
    std::vector<int64_t> sizes = {f_.batch, f_.key_heads, kStepLength, kStepWidth};
    if (f_.positions_first) std::swap(sizes[1], sizes[2]);
    Node* cache = build_.buffer(name, seeded_weights(name, 5, sizes, 1));
    ArgumentList before(static_cast<size_t>(at));
    switch (f_.write) {
      case StepWrite::kIndexPut:
        before.emplace_back(position_);
        return build_.call("aten.index_put_.default",
                           {cache, Argument::list(std::move(before)), row});
      case StepWrite::kIndexCopy:
        return build_.call("aten.index_copy_.default", {cache, at, position_, row});
      case StepWrite::kCopyOfIndexCopy: {
        Node* next = build_.call("aten.index_copy.default", {cache, at, position_, row});
        build_.call("aten.copy_.default", {cache, next});
        return next;
      }
      case StepWrite::kNarrowCopy:
        build_.call("aten.copy_.default",
                    {build_.call("aten.narrow.default", {cache, at, first(), size()}), row});
        return cache;
      case StepWrite::kSliceCopy: {
        const int64_t start = kStepLength - f_.count;
        build_.call("aten.copy_.default",
                    {build_.call("aten.slice.Tensor", {cache, at, start, kStepLength}), row});
        return cache;
      }
      case StepWrite::kSelectCopy:
        break;
    }
    Node* one = build_.call("aten.select.int", {row, at, 0});
    build_.call("aten.copy_.default", {build_.call("aten.select.int", {cache, at, first()}), one});
    return cache;
  }

  Node* repeated(Node* rows) {
    const int64_t times = f_.heads / f_.key_heads;
    if (f_.positions_first) rows = build_.call("aten.transpose.int", {rows, 1, 2});
    if (f_.repeat == StepRepeat::kInterleave) {
      return build_.call("aten.repeat_interleave.self_int", {rows, times, 1});
    }
    if (f_.repeat != StepRepeat::kExpand) return rows;
    rows = build_.call("aten.unsqueeze.default", {rows, 2});
    rows = build_.call("aten.expand.default",
                       {rows, Dims{f_.batch, f_.key_heads, times, kStepLength, kStepWidth}});
    return build_.call("aten.reshape.default",
                       {rows, Dims{f_.batch, f_.heads, kStepLength, kStepWidth}});
  }

  const StepForm f_;
  ModelBuilder build_{"Step"};
  SymInt count_;
  Node* size_ = nullptr;
  Node* position_ = nullptr;
  Node* first_ = nullptr;
  Node* end_ = nullptr;
};

}  // namespace vitrine::aot
