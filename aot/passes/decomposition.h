// What the table of decompositions is written with.
#pragma once

#include <span>
#include <string_view>

#include "aot/graph/exported_program.h"
#include "aot/shapes/call.h"
#include "aot/shapes/strides.h"

namespace vitrine::aot {

// No more results of one call than a graph can use.
inline constexpr int64_t kMaxPieces = 1 << 16;

// One call being replaced. New calls stand before it, in the order they are made, and stand for the
// same source.
class Decomposition {
 public:
  Decomposition(ExportedProgram& program, Node& node) : program_(program), node_(node) {}

  Node& node() { return node_; }
  // By position or name; `fallback` if it is not there.
  Argument arg(size_t index, std::string_view name, Argument fallback = {}) const;
  int64_t integer(size_t index, std::string_view name, int64_t fallback) const;
  bool boolean(size_t index, std::string_view name, bool fallback) const;
  // A list, or one number for all, as a list of `count` (0: as it is).
  std::vector<int64_t> integers(size_t index, std::string_view name, size_t count,
                                int64_t fallback) const;
  // Keyword arguments that both the old and the new call know.
  ArgumentMap kwargs(std::initializer_list<std::string_view> names) const;
  // AotError if it is no tensor.
  Node* tensor(size_t index) const;
  const TensorSpec& spec() const;  // of the result
  [[noreturn]] void refuse(std::string_view why) const;

  Node* call(std::string_view target, ArgumentList args, Value value, ArgumentMap kwargs = {});
  // With the result that aot/shapes tells.
  Node* make(std::string_view target, ArgumentList args, ArgumentMap kwargs = {});
  // aten.scalar_tensor of a number.
  Node* scalar(Argument value, ScalarType dtype);
  // arange(start, end) of i64.
  Node* range(const SymInt& start, const SymInt& end);
  Node* convert(Node* input, ScalarType dtype);  // itself if it is of that dtype
  Node* item(Node* tuple, size_t index);
  Node* permute(Node* input, const std::vector<int64_t>& dims);
  Node* transpose(Node* input, int64_t a, int64_t b);
  Node* expand(Node* input, const std::vector<SymInt>& sizes);
  // The sizes that operands have together. AotError if they do not fit.
  std::vector<SymInt> broadcast_sizes(std::span<Node* const> operands) const;
  // aten.view, after a copy if the strides do not allow one. Sizes may be what they were.
  Node* reshape(Node* input, const std::vector<SymInt>& sizes);
  // The same with sizes as the call is to have them.
  Node* reshape(Node* input, const Argument& asked, const std::vector<SymInt>& sizes);
  // Sizes as an argument: symbols are nodes, which are made if there are none yet. AotError if a
  // symbol is no size of an operand nor made of such.
  Argument size_list(const std::vector<SymInt>& sizes);
  Argument size(const SymInt& size);

  // Whether a result that took another's place is of other sizes, so that what follows is as well.
  bool changed_sizes() const { return changed_sizes_; }

  // The node goes; `other` takes its place.
  void replace(Node* other);
  // Getitem i takes results[i], of which there is at least one. AotError if one is read that is not
  // there.
  void replace_items(std::span<Node* const> results);

 private:
  void note_sizes(const Node& before, const Node& after);

  ExportedProgram& program_;
  Node& node_;
  bool changed_sizes_ = false;
};

using Decompose = void (*)(Decomposition&);
struct DecompositionRow {
  std::string_view target;
  Decompose decompose;
};
// By kind.
std::span<const DecompositionRow> activation_decompositions();
std::span<const DecompositionRow> arrangement_decompositions();  // pieces, diagonals, blocks
std::span<const DecompositionRow> image_decompositions();        // pools, shuffles, padding
std::span<const DecompositionRow> layer_decompositions();        // convolutions, norms
std::span<const DecompositionRow> linear_algebra_decompositions();
std::span<const DecompositionRow> loss_decompositions();
std::span<const DecompositionRow> maker_decompositions();      // of tensors, masks and copies
std::span<const DecompositionRow> math_decompositions();       // functions element by element
std::span<const DecompositionRow> product_decompositions();    // of matrices; attention
std::span<const DecompositionRow> recurrent_decompositions();  // LSTM, GRU, RNN
std::span<const DecompositionRow> reduction_decompositions();
std::span<const DecompositionRow> resizing_decompositions();
std::span<const DecompositionRow> scan_decompositions();       // what runs along a dim
std::span<const DecompositionRow> selection_decompositions();  // by index or mask
std::span<const DecompositionRow> shape_decompositions();
std::span<const DecompositionRow> transformer_decompositions();
std::span<const DecompositionRow> value_decompositions();   // element-wise
std::span<const DecompositionRow> window_decompositions();  // pools of volumes, patches

}  // namespace vitrine::aot
