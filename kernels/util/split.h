// A tensor cut into consecutive parts along one dimension.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "kernels/util/slice.h"

namespace vitrine {

// outs[i] = the next length_of(i) elements of self along `dim`. Fails unless the parts are as many
// as the outs and together all of self. Lengths may be anything.
template <class LengthOf>
void split_tensor(KernelContext& context, const Tensor& self, int64_t dim,
                  std::span<Tensor* const> outs, int64_t parts, LengthOf length_of) {
  const std::optional<size_t> place = existing_dim(context, self, dim);
  if (!place) return;
  if (parts != static_cast<int64_t>(outs.size())) {
    context.fail(ErrorCode::kInvalidArgument, "%lld parts do not go into %zu outs",
                 static_cast<long long>(parts), outs.size());
    return;
  }
  int64_t start = 0;
  for (int64_t i = 0; i < parts && !context.failed(); ++i) {
    const int64_t length = length_of(i);
    const std::optional<Layout> view =
        narrow_layout(context, self, static_cast<int64_t>(*place), start, length);
    if (!view) return;
    copy_view(context, self, *view, *outs[static_cast<size_t>(i)]);
    start += length;
  }
  if (!context.failed() && start != self.size(*place)) {
    context.fail(ErrorCode::kInvalidArgument, "the parts hold %lld of %d elements",
                 static_cast<long long>(start), self.size(*place));
  }
}

}  // namespace vitrine
