// What decompositions are written with.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "aot/graph/exported_program.h"
#include "aot/shapes/call.h"
#include "aot/shapes/strides.h"

namespace vitrine::aot {

// No more results of one call than a graph can use.
inline constexpr int64_t kMaxPieces = 1 << 16;

// The call that is being replaced. New calls are inserted before it, in order of creation, and have
// the same source.
class Decomposition {
 public:
  Decomposition(ExportedProgram& program, Node& node) : program_(program), node_(node) {}

  Node& node() { return node_; }
  // Arguments, by the names that the operator's signature has for them. An argument that is not
  // given, or None, is what the signature says, then `fallback`; AotError if there is neither, or
  // it is of another kind. One that the operator does not have counts as not given.
  Argument value(std::string_view name) const { return call().value(name); }  // None: there is none
  int64_t integer(std::string_view name, std::optional<int64_t> fallback = {}) const {
    return call().integer(name, fallback);
  }
  double number(std::string_view name, std::optional<double> fallback = {}) const {
    return call().real(name, fallback);
  }
  bool boolean(std::string_view name, std::optional<bool> fallback = {}) const {
    return call().boolean(name, fallback);
  }
  // A list, or one number for all, as a list of `count` (0: as it is).
  std::vector<int64_t> integers(std::string_view name, size_t count = 0) const {
    return call().integers(name, count);
  }
  // As it is given; `fallback` if it is not.
  Argument arg(std::string_view name, const Argument& fallback = {}) const;
  // That which stands in this place of the signature, whatever its name. None if it is not given.
  Argument operand(size_t index) const;
  Node* self() const;  // the first argument, which is a tensor
  Node* tensor(std::string_view name) const { return &call().node(name); }
  Node* optional_tensor(std::string_view name) const;       // null if it is None
  std::vector<Node*> tensors(std::string_view name) const;  // at least one
  // Keyword arguments that the old and the new call share.
  ArgumentMap kwargs(std::initializer_list<std::string_view> names) const;
  const TensorSpec& spec() const;  // of the result
  [[noreturn]] void refuse(std::string_view why) const;

  Node* call(std::string_view target, ArgumentList args, Value value, ArgumentMap kwargs = {});
  // With the result that aot/shapes infers.
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
  // aten.view, after a copy if the strides do not allow one. Sizes may be unchanged.
  Node* reshape(Node* input, const std::vector<SymInt>& sizes);
  // The same with sizes as the call is to have them.
  Node* reshape(Node* input, const Argument& asked, const std::vector<SymInt>& sizes);
  // Sizes as an argument. Symbols become nodes, created on demand. AotError if a symbol does not
  // derive from an operand's size.
  Argument size_list(const std::vector<SymInt>& sizes);
  Argument size(const SymInt& size);

  // Whether a replacement has different sizes, so that later results may too.
  bool changed_sizes() const { return changed_sizes_; }

  // Replaces the node by `other` and removes it.
  void replace(Node* other);
  // Replaces getitem i by results[i]; at least one result is given. AotError if a missing result is
  // read.
  void replace_items(std::span<Node* const> results);

 private:
  Call call() const { return Call(node_, kContext); }
  void note_sizes(const Node& before, const Node& after);

  static constexpr std::string_view kContext = "no decomposition: ";
  ExportedProgram& program_;
  Node& node_;
  bool changed_sizes_ = false;
};

}  // namespace vitrine::aot
