#include "kernels/util/scatter.h"

namespace vitrine {

bool check_scatter_shapes(KernelContext& context, const Tensor& target, size_t dim,
                          const Tensor& index, const Tensor* other) {
  const Layout places = at_least_1d(index);
  if (index.numel() == 0) return true;
  const Layout into = at_least_1d(target);
  const Layout from = other != nullptr ? at_least_1d(*other) : places;
  bool fits = places.rank == into.rank && places.rank == from.rank;
  for (size_t i = 0; fits && i < places.rank; ++i) {
    fits = (i == dim || places.sizes[i] <= into.sizes[i]) && places.sizes[i] <= from.sizes[i];
  }
  if (fits) return true;
  char texts[2][96];
  describe(index, texts[0], sizeof texts[0]);
  describe(target, texts[1], sizeof texts[1]);
  context.fail(ErrorCode::kInvalidArgument, "index %s does not suit self, %s, or src", texts[0],
               texts[1]);
  return false;
}

}  // namespace vitrine
