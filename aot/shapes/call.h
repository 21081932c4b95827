// The arguments of a call, read by position or name as the operator's schema has them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "aot/graph/node.h"

namespace vitrine::aot {

// A view of a call's target and arguments, which must outlive it. AotErrors name the operator and
// the argument.
class Call {
 public:
  Call(Target target, const ArgumentList& args, const ArgumentMap& kwargs)
      : target_(target), args_(args), kwargs_(kwargs) {}

  Target target() const { return target_; }
  // Null if it is not given, or None.
  const Argument* find(size_t index, std::string_view name) const;

  const TensorSpec& tensor(size_t index, std::string_view name) const;
  const TensorSpec* optional_tensor(size_t index, std::string_view name) const;
  std::vector<const TensorSpec*> tensors(size_t index, std::string_view name) const;
  SymInt size(size_t index, std::string_view name, std::optional<SymInt> fallback = {}) const;
  // A list of sizes, numbers or nodes that are numbers; one number is a list of one.
  std::vector<SymInt> sizes(size_t index, std::string_view name) const;
  int64_t integer(size_t index, std::string_view name, std::optional<int64_t> fallback = {}) const;
  bool boolean(size_t index, std::string_view name, bool fallback) const;
  // A list, or one number for all, as a list of `count` (0: as it is); `fallback` for all if absent
  // or empty.
  std::vector<int64_t> integers(size_t index, std::string_view name, size_t count,
                                int64_t fallback) const;
  ScalarType dtype(size_t index, std::string_view name, ScalarType fallback) const;
  [[noreturn]] void refuse(std::string_view why) const;

 private:
  const Argument& need(size_t index, std::string_view name) const;

  Target target_;
  const ArgumentList& args_;
  const ArgumentMap& kwargs_;
};

// A dim counted from the end -> from the start. AotError if there is none such; a tensor without
// dims counts as having one.
size_t wrapped(int64_t dim, size_t rank);
// A size that an argument tells: a number, or a node that is one. Nothing if it is neither.
std::optional<SymInt> size_of(const Argument& argument);

}  // namespace vitrine::aot
