#include "kernels/util/convert.h"

#include <array>

namespace vitrine {

namespace {

template <class From, class To>
void run(const void* from, int64_t from_stride, void* to, int64_t to_stride, int64_t count) {
  const From* source = static_cast<const From*>(from);
  To* target = static_cast<To*>(to);
  if (from_stride == 1 && to_stride == 1) {  // what the compiler can vectorise
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

using Row = std::array<ConvertRun, kNumScalarTypes>;

template <class From, class... To>
constexpr Row row(TypeList<To...>) {
  Row result{};
  ((result[static_cast<size_t>(scalar_type_of<To>)] = &run<From, To>), ...);
  return result;
}

template <class... From>
constexpr std::array<Row, kNumScalarTypes> table(TypeList<From...> list) {
  std::array<Row, kNumScalarTypes> result{};
  ((result[static_cast<size_t>(scalar_type_of<From>)] = row<From>(list)), ...);
  return result;
}

constexpr std::array<Row, kNumScalarTypes> kTable = table(RealHBBF16Types{});

}  // namespace

ConvertRun convert_run(ScalarType from, ScalarType to) {
  if (!is_valid(from) || !is_valid(to)) return nullptr;
  return kTable[static_cast<size_t>(from)][static_cast<size_t>(to)];
}

bool Conversion::set(ScalarType from, ScalarType middle, ScalarType to) {
  const bool rounds = compute_type(middle) != middle && from != middle && to != middle;
  identity_ = from == to && !rounds && from != ScalarType::kBool;
  first_ = convert_run(from, rounds ? middle : to);
  second_ = rounds ? convert_run(middle, to) : nullptr;
  return first_ != nullptr && (!rounds || second_ != nullptr);
}

void Conversion::run(const void* from, int64_t from_stride, void* to, int64_t to_stride,
                     int64_t count) const {
  if (second_ == nullptr) return first_(from, from_stride, to, to_stride, count);
  Chunk middle;
  first_(from, from_stride, &middle, 1, count);
  second_(&middle, 1, to, to_stride, count);
}

}  // namespace vitrine
