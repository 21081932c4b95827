#include "aot/operators/results.h"
#include "aot/operators/sizes.h"

namespace vitrine::aot::results {
namespace {

// Returns the dim that a real transform halves: the last dim in the list.
size_t halved_dim(const Call& call) {
  const std::vector<int64_t> dims = call.integers("dim");
  if (dims.empty()) call.refuse("dim must not be empty");
  return wrapped(dims.back(), call.self().rank());
}

}  // namespace

Value complex_transform(const Call& call) {
  return contiguous_spec(call.self().dtype, call.self().sizes);
}

Value transform_to_real(const Call& call) {
  Sizes sizes = call.self().sizes;
  sizes[halved_dim(call)] = call.size("last_dim_size");
  return contiguous_spec(real_type(call.self().dtype), std::move(sizes));
}

Value transform_of_real(const Call& call) {
  Sizes sizes = call.self().sizes;
  SymInt& halved = sizes[halved_dim(call)];
  if (call.boolean("onesided")) halved = halved / SymInt(2) + SymInt(1);
  const bool is_double = call.self().dtype == ScalarType::kDouble;
  return contiguous_spec(is_double ? ScalarType::kComplexDouble : ScalarType::kComplexFloat,
                         std::move(sizes));
}

}  // namespace vitrine::aot::results
