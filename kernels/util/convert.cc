#include "kernels/util/convert.h"

#include <array>

#include "kernels/util/independent.h"

namespace vitrine {

namespace {

template <class From, class To>
void run(const void* from, int64_t from_stride, void* to, int64_t to_stride, int64_t count) {
  const From* source = static_cast<const From*>(from);
  To* target = static_cast<To*>(to);
  if (from_stride == 1 && to_stride == 1) {  // the compiler can vectorize this loop
    VITRINE_INDEPENDENT_ITERATIONS
    for (int64_t i = 0; i < count; ++i) target[i] = convert<To>(load(source + i));
  } else if (from_stride == 0) {
    const To value = convert<To>(load(source));
    for (int64_t i = 0; i < count; ++i) target[i * to_stride] = value;
  } else {
    for (int64_t i = 0; i < count; ++i) {
      target[i * to_stride] = convert<To>(load(source + i * from_stride));
    }
  }
}

// True for dtypes of arithmetic and scalars. Every build needs conversions of these dtypes.
constexpr bool is_internal(ScalarType type) {
  return type == ScalarType::kBool || type == ScalarType::kInt || type == ScalarType::kLong ||
         type == ScalarType::kFloat || type == ScalarType::kDouble;
}
constexpr bool is_needed(ScalarType from, ScalarType to) {
  return (is_selected(from) || is_internal(from)) && (is_selected(to) || is_internal(to)) &&
         (is_selected(from) || is_selected(to) || from == to);
}

template <class From, class To>
constexpr ConvertRun run_if_needed() {
  if constexpr (is_needed(scalar_type_of<From>, scalar_type_of<To>)) {
    return &run<From, To>;
  } else {
    return nullptr;
  }
}

constexpr size_t kNumTypes = 10;
constexpr size_t table_index(ScalarType type) {
  if (type == ScalarType::kBool) return 8;
  if (type == ScalarType::kBFloat16) return 9;
  const auto number = static_cast<size_t>(type);
  return number < 8 ? number : kNumTypes;
}

using Row = std::array<ConvertRun, kNumTypes>;

template <class From, class... To>
constexpr Row row(TypeList<To...>) {
  Row result{};
  ((result[table_index(scalar_type_of<To>)] = run_if_needed<From, To>()), ...);
  return result;
}

template <class... From>
constexpr std::array<Row, kNumTypes> table(TypeList<From...> list) {
  std::array<Row, kNumTypes> result{};
  ((result[table_index(scalar_type_of<From>)] = row<From>(list)), ...);
  return result;
}

constexpr std::array<Row, kNumTypes> kTable = table(RealHBBF16Types{});

}  // namespace

ConvertRun convert_run(ScalarType from, ScalarType to) {
  const size_t row_index = table_index(from);
  const size_t column_index = table_index(to);
  return row_index < kNumTypes && column_index < kNumTypes ? kTable[row_index][column_index]
                                                           : nullptr;
}

bool Conversion::set(ScalarType from, ScalarType middle, ScalarType to) {
  const bool rounds = compute_type(middle) != middle && from != middle && to != middle;
  identity_ = from == to && !rounds && from != ScalarType::kBool;
  first_ = convert_run(from, rounds ? middle : to);
  second_ = rounds ? convert_run(middle, to) : nullptr;
  return first_ != nullptr && (!rounds || second_ != nullptr);
}

void Conversion::run_both(const void* from, int64_t from_stride, void* to, int64_t to_stride,
                          int64_t count) const {
  Chunk middle;
  first_(from, from_stride, &middle, 1, count);
  second_(&middle, 1, to, to_stride, count);
}

}  // namespace vitrine
