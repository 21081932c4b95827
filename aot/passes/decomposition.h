// What the table of decompositions is written with.
#pragma once

#include <span>
#include <string_view>

#include "aot/graph/exported_program.h"
#include "aot/shapes/call.h"
#include "aot/shapes/strides.h"

namespace vitrine::aot {

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
  Node* item(Node* tuple, size_t index);
  Node* permute(Node* input, const std::vector<int64_t>& dims);
  Node* transpose(Node* input, int64_t a, int64_t b);
  Node* expand(Node* input, const std::vector<SymInt>& sizes);
  // aten.view, after a copy if the strides do not allow one. `sizes` as the call is to have them;
  // the result's are `result`.
  Node* reshape(Node* input, const Argument& sizes, const std::vector<SymInt>& result);

  // The node goes; `other` takes its place.
  void replace(Node* other);
  // Getitem i takes results[i].
  void replace_items(std::span<Node* const> results);

 private:
  ExportedProgram& program_;
  Node& node_;
};

using Decompose = void (*)(Decomposition&);
struct DecompositionRow {
  std::string_view target;
  Decompose decompose;
};
// By kind: layers with weights; changes of shape; all else.
std::span<const DecompositionRow> layer_decompositions();
std::span<const DecompositionRow> shape_decompositions();
std::span<const DecompositionRow> value_decompositions();

// Sizes that are numbers, as an argument. AotError if one is a symbol.
Argument size_argument(const std::vector<SymInt>& sizes);

}  // namespace vitrine::aot
