// declared <model.pte>: calls the free functions of vitrine/vitrine.h, and receives the values of
// ops with its own tracer.
#include <vitrine/value_tracer.h>
#include <vitrine/vitrine.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

namespace {

class Values final : public vitrine::ValueTracer {
 public:
  void begin_block(const char* /*name*/) override {}
  void record(const vitrine::TraceRecord& /*record*/) override {}
  bool wants_values() const override { return true; }
  void record_value(const vitrine::TracedValue& value) override {
    count_ += value.is_method_output ? 0 : 1;
  }
  int count() const { return count_; }

 private:
  int count_ = 0;
};

int fail(const char* message) { return std::fprintf(stderr, "declared: %s\n", message), 1; }

// Copies a tensor from row-major to column-major order.
bool copies_between_layouts(std::array<char, 64>& text) {
  constexpr std::array<uint8_t, 2> kRowMajor = {0, 1};
  constexpr std::array<uint8_t, 2> kColumnMajor = {1, 0};
  std::array<int32_t, 2> sizes = {3, 2};
  std::array<int64_t, 2> from_strides{};
  std::array<int64_t, 2> to_strides{};
  vitrine::strides_from_dim_order(sizes, kColumnMajor, to_strides);
  if (to_strides != std::array<int64_t, 2>{1, 3} || !vitrine::is_permutation(kColumnMajor)) {
    return false;
  }
  std::array<float, 6> from = {0, 1, 2, 3, 4, 5};
  std::array<float, 6> to{};
  const vitrine::Tensor tensor(vitrine::ScalarType::kFloat, sizes, kRowMajor, from_strides,
                               from.data());
  vitrine::Tensor other(vitrine::ScalarType::kFloat, sizes, kColumnMajor, to_strides, to.data());
  vitrine::copy_elements(tensor, other);
  vitrine::describe(tensor, text.data(), text.size());
  const auto count = vitrine::checked_numel(sizes);
  return count.ok() && *count == 6 && to == std::array<float, 6>{0, 2, 4, 1, 3, 5};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return fail("expected a model");
  Values values;
  auto module = vitrine::Module::load(argv[1], {.tracer = &values});
  if (!module.ok()) return fail(module.error().message());
  auto zeros = vitrine::Array::zeros(vitrine::ScalarType::kFloat, {2, 3});
  if (!zeros.ok()) return fail(zeros.error().message());
  auto outputs = module->forward({*zeros, *zeros});
  if (!outputs.ok()) return fail(outputs.error().message());
  std::array<char, 64> text{};
  if (!copies_between_layouts(text)) return fail("copy_elements() produced wrong elements");
  std::printf("%d values, %s\n", values.count(), text.data());
  return 0;
}
