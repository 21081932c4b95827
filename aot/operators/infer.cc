#include "aot/operators/infer.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "aot/graph/aot_error.h"
#include "aot/operators/results.h"

namespace vitrine::aot {
namespace {

using Infer = Value (*)(const Call& call);

// A row of the operator table. This file reads only the column RESULT.
struct Row {
  Infer infer = nullptr;

  constexpr Row result(Infer function) const { return {function}; }
};

constexpr Row kRows[] = {
#define OP(signature, ...) Row() __VA_ARGS__,
#define RESULT(function) .result(results::function)
#include "operators/operators.inc"
};

// Returns null if the operator table does not tell how to infer the target's results.
Infer find(std::string_view target) {
  const Operator* found = find_operator(target);
  return found == nullptr ? nullptr : kRows[found - operators().data()].infer;
}

// Returns the name of the view that the target copies: "aten.permute.default" for
// "aten.permute_copy.default". Empty if the target is not an ATen operator that ends with "_copy".
std::string view_of(Target target) {
  constexpr std::string_view kCopy = "_copy";
  if (!target.op().ends_with(kCopy) || target.name_space() != "aten") return "";
  return fmt::format("aten.{}.{}", target.op().substr(0, target.op().size() - kCopy.size()),
                     target.overload());
}

void make_contiguous(Value& value) {
  if (auto* tensor = std::get_if<TensorSpec>(&value.content)) {
    tensor->strides = contiguous_strides(tensor->sizes);
    tensor->storage_offset = 0;
  } else if (auto* items = std::get_if<Value::Items>(&value.content)) {
    for (Value& item : *items) make_contiguous(item);
  }
}

// Maximum rank of a result, as for imported tensors. The limit bounds the work for calls that add
// dims.
constexpr size_t kMaxRank = 64;

void check_rank(const Call& call, const Value& value) {
  if (const TensorSpec* tensor = value.tensor(); tensor != nullptr && tensor->rank() > kMaxRank) {
    call.refuse(fmt::format("the result has {} dims, more than the maximum of {}", tensor->rank(),
                            kMaxRank));
  }
  if (const Value::Items* items = value.items()) {
    for (const Value& item : *items) check_rank(call, item);
  }
}

bool has_dialect(Target target) {
  return target.dialect() == Dialect::kAten || target.dialect() == Dialect::kEdge;
}

}  // namespace

bool can_infer(Target target) {
  if (target == getitem()) return true;
  if (!target || !has_dialect(target)) return false;
  return find(target.name()) != nullptr || find(view_of(target)) != nullptr;
}

bool is_elementwise(Target target) {
  constexpr Infer kElementwise[] = {results::unary,   results::unary_float,  results::unary_bool,
                                    results::binary,  results::binary_float, results::binary_bool,
                                    results::ternary, results::absolute,     results::divide,
                                    results::where};
  if (!target || !has_dialect(target)) return false;
  const Infer own = find(target.name());
  return own != nullptr && std::ranges::count(kElementwise, own) != 0;
}

Value infer(Target target, const ArgumentList& args, const ArgumentMap& kwargs) {
  const Call call(target, args, kwargs);
  if (target == getitem()) {
    const Node* tuple = args.empty() ? nullptr : args[0].node();
    const Value::Items* items = tuple == nullptr ? nullptr : tuple->meta.value.items();
    const auto* position = args.size() < 2 ? nullptr : args[1].get<int64_t>();
    const int64_t index = position == nullptr ? -1 : *position;
    if (items == nullptr || index < 0 || static_cast<size_t>(index) >= items->size()) {
      call.refuse("the argument is not a tuple, or has no item at this index");
    }
    return (*items)[static_cast<size_t>(index)];
  }
  if (has_dialect(target)) {
    try {
      const Infer own = find(target.name());
      const Infer of_view = own == nullptr ? find(view_of(target)) : nullptr;
      if (own != nullptr || of_view != nullptr) {
        Value value = own != nullptr ? own(call) : of_view(call);
        check_rank(call, value);
        if (of_view != nullptr) make_contiguous(value);
        return value;
      }
    } catch (const AotError& error) {
      const std::string_view text = error.what();
      if (text.starts_with(target.name())) throw;
      throw AotError(fmt::format("{}: {}", target.name(), text));
    }
  }
  call.refuse("the shape of the result is unknown");
}

SymInt product_of(const std::vector<SymInt>& sizes) {
  SymInt product = 1;
  for (const SymInt& size : sizes) product = product * size;
  return product;
}

std::vector<SymInt> broadcast_sizes(const Call& call, std::span<const TensorSpec* const> operands) {
  std::vector<SymInt> sizes;
  for (const TensorSpec* operand : operands) {
    if (operand->rank() > sizes.size()) {
      sizes.insert(sizes.begin(), operand->rank() - sizes.size(), SymInt(1));
    }
  }
  for (const TensorSpec* operand : operands) {
    const size_t added = sizes.size() - operand->rank();
    for (size_t i = 0; i < operand->rank(); ++i) {
      SymInt& size = sizes[i + added];
      if (operand->sizes[i] == SymInt(1) || size == operand->sizes[i]) continue;
      // If a static and a symbolic size must be equal, the result has the static size.
      if (size.is_static() && size.value() != 1) {
        if (operand->sizes[i].is_static()) {
          call.refuse(fmt::format("sizes {} and {} cannot be broadcast", to_text(size),
                                  to_text(operand->sizes[i])));
        }
        continue;
      }
      size = operand->sizes[i];
    }
  }
  return sizes;
}

std::vector<SymInt> resolved_sizes(const Call& call, std::vector<SymInt> sizes,
                                   const std::vector<SymInt>& elements) {
  SymInt* inferred = nullptr;
  SymInt others = 1;
  for (SymInt& size : sizes) {
    if (size == SymInt(-1)) {
      if (inferred != nullptr) call.refuse("only one size may be -1");
      inferred = &size;
    } else {
      others = others * size;
    }
  }
  const SymInt all = product_of(elements);
  if (inferred != nullptr) {
    if (others == SymInt(0)) call.refuse("a size of -1 is ambiguous if another size is 0");
    *inferred = all / others;
    others = others * *inferred;
  }
  if (others.is_static() && all.is_static() && !(others == all)) {
    call.refuse(fmt::format("the input has {} elements, but the sizes need {}", to_text(all),
                            to_text(others)));
  }
  return sizes;
}

}  // namespace vitrine::aot
