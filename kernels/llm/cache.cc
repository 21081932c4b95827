#include "kernels/llm/cache.h"

#include <array>
#include <cstring>

#include "kernels/util/checks.h"

namespace vitrine::llm {

namespace {

int64_t token_bytes(const Tensor& tensor) {
  return size_product(tensor, 2, 4) * static_cast<int64_t>(tensor.element_size());
}

// `value` and `cache` may overlap.
void copy_tokens(const Tensor& value, Tensor& cache, int64_t batch, int64_t token, int64_t position,
                 int64_t count) {
  const int64_t bytes = token_bytes(value);
  if (count * bytes == 0) return;
  std::memmove(
      cache.unchecked_mutable_data<std::byte>() + (batch * cache.size(1) + position) * bytes,
      value.unchecked_data<std::byte>() + (batch * value.size(1) + token) * bytes,
      static_cast<size_t>(count * bytes));
}

}  // namespace

bool check_cache(KernelContext& context, const Tensor& value, const Tensor& cache) {
  if (!check_rank(context, value, 4, "value") || !check_rank(context, cache, 4, "cache") ||
      !check_dtype(context, value, cache.dtype(), "value") ||
      !check_contiguous(context, value, "value") || !check_contiguous(context, cache, "cache")) {
    return false;
  }
  const std::array sizes = {cache.size(0), value.size(1), cache.size(2), cache.size(3)};
  return check_sizes(context, value, sizes, "value") && check_data(context, {&value, &cache});
}

bool check_positions(KernelContext& context, int64_t start_pos, int64_t tokens, int64_t length) {
  if (start_pos >= 0 && start_pos < length && tokens <= length - start_pos) return true;
  context.fail(ErrorCode::kInvalidArgument,
               "%lld tokens from position %lld do not fit in a cache of %lld positions",
               static_cast<long long>(tokens), static_cast<long long>(start_pos),
               static_cast<long long>(length));
  return false;
}

void write_cache(const Tensor& value, Tensor& cache, int64_t start_pos) {
  if (value.numel() == 0) return;
  for (int64_t batch = 0; batch < value.size(0); ++batch) {
    copy_tokens(value, cache, batch, 0, start_pos, value.size(1));
  }
}

void write_token(const Tensor& value, Tensor& cache, int64_t batch, int64_t token,
                 int64_t position) {
  copy_tokens(value, cache, batch, token, position, 1);
}

}  // namespace vitrine::llm
