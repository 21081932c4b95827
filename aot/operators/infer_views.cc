// Infers the results of views, which have the input's elements with other sizes and strides.
#include <fmt/format.h>

#include <algorithm>

#include "aot/operators/infer.h"
#include "aot/operators/results.h"
#include "aot/operators/strides.h"

namespace vitrine::aot::results {
namespace {

template <class T>
void erase_at(std::vector<T>& items, size_t index) {
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(index));
}
template <class T>
void insert_at(std::vector<T>& items, size_t index, T item) {
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(index), std::move(item));
}

}  // namespace

Value alias(const Call& call) { return call.self(); }

Value permute(const Call& call) {
  const TensorSpec& self = call.self();
  const std::vector<int64_t> dims = call.integers("dims", self.rank());
  TensorSpec spec = self;
  std::vector<bool> seen(self.rank());
  for (size_t i = 0; i < dims.size(); ++i) {
    const size_t from = wrapped(dims[i], self.rank());
    if (seen.at(from)) call.refuse(fmt::format("dim {} is repeated", from));
    seen[from] = true;
    spec.sizes[i] = self.sizes[from];
    spec.strides[i] = self.strides[from];
  }
  return spec;
}

namespace {

Value swapped(TensorSpec spec, int64_t a, int64_t b) {
  if (spec.rank() == 0) return spec;
  const size_t first = wrapped(a, spec.rank());
  const size_t second = wrapped(b, spec.rank());
  std::swap(spec.sizes[first], spec.sizes[second]);
  std::swap(spec.strides[first], spec.strides[second]);
  return spec;
}

}  // namespace

Value transpose(const Call& call) {
  return swapped(call.self(), call.integer("dim0"), call.integer("dim1"));
}

Value t(const Call& call) {
  const TensorSpec& self = call.self();
  if (self.rank() > 2)
    call.refuse(fmt::format("the input has {} dims, expected 0 to 2", self.rank()));
  return self.rank() < 2 ? Value(self) : swapped(self, 0, 1);
}

namespace {

// Returns the spec of a view, or of a contiguous copy if the strides do not allow a view.
TensorSpec reshaped(const TensorSpec& self, std::vector<SymInt> sizes) {
  const std::optional<std::vector<SymInt>> strides = view_strides(self, sizes);
  TensorSpec spec = self;
  if (!strides) return contiguous_spec(self.dtype, std::move(sizes));
  spec.sizes = std::move(sizes);
  spec.strides = *strides;
  return spec;
}

Value reshape_to(const Call& call, const std::vector<SymInt>& sizes) {
  const TensorSpec& self = call.self();
  return reshaped(self, resolved_sizes(call, sizes, self.sizes));
}

}  // namespace

Value view(const Call& call) { return reshape_to(call, call.sizes("size")); }
Value reshape(const Call& call) { return reshape_to(call, call.sizes("shape")); }

Value flatten(const Call& call) {
  const TensorSpec& self = call.self();
  if (self.rank() == 0) return reshaped(self, {1});
  const size_t first = wrapped(call.integer("start_dim"), self.rank());
  const size_t last = wrapped(call.integer("end_dim"), self.rank());
  if (first > last) call.refuse("start_dim is after end_dim");
  std::vector<SymInt> sizes(self.sizes.begin(),
                            self.sizes.begin() + static_cast<std::ptrdiff_t>(first));
  SymInt product = 1;
  for (size_t i = first; i <= last; ++i) product = product * self.sizes[i];
  sizes.push_back(product);
  sizes.insert(sizes.end(), self.sizes.begin() + static_cast<std::ptrdiff_t>(last) + 1,
               self.sizes.end());
  return reshaped(self, std::move(sizes));
}

Value unflatten(const Call& call) {
  const TensorSpec& self = call.self();
  const size_t dim = wrapped(call.integer("dim"), self.rank());
  const std::vector<SymInt> inner = resolved_sizes(call, call.sizes("sizes"), {self.sizes.at(dim)});
  std::vector<SymInt> sizes = self.sizes;
  erase_at(sizes, dim);
  sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(dim), inner.begin(), inner.end());
  return reshaped(self, std::move(sizes));
}

Value expand(const Call& call) {
  const TensorSpec& self = call.self();
  TensorSpec spec = self;
  spec.sizes = call.sizes("size");
  if (spec.sizes.size() < self.rank()) {
    call.refuse(fmt::format("size has {} items, but the input has {} dims", spec.sizes.size(),
                            self.rank()));
  }
  const size_t added = spec.sizes.size() - self.rank();
  spec.strides.assign(spec.sizes.size(), 0);
  for (size_t i = added; i < spec.sizes.size(); ++i) {
    const SymInt& from = self.sizes[i - added];
    if (spec.sizes[i] == SymInt(-1)) spec.sizes[i] = from;
    if (same(spec.sizes[i], from)) {
      spec.strides[i] = self.strides[i - added];
    } else if (!(from == SymInt(1))) {
      call.refuse(fmt::format("cannot expand a dim of size {} to {}", to_text(from),
                              to_text(spec.sizes[i])));
    }
  }
  // A new leading dim of size 1 gets the stride that it would have in a contiguous tensor. Other
  // new dims repeat the elements, so their stride is 0.
  for (size_t i = added; i-- > 0;) {
    if (spec.sizes[i] == SymInt(1) && i + 1 < spec.sizes.size()) {
      spec.strides[i] = spec.sizes[i + 1] * spec.strides[i + 1];
    } else if (spec.sizes[i] == SymInt(1)) {
      spec.strides[i] = 1;
    }
  }
  return spec;
}

Value squeeze(const Call& call) {
  const TensorSpec& self = call.self();
  const bool all = call.find("dim") == nullptr;
  std::vector<bool> removed(self.rank(), all);
  if (!all && self.rank() > 0) {
    for (const int64_t dim : call.integers("dim")) removed.at(wrapped(dim, self.rank())) = true;
  }
  TensorSpec spec = self;
  for (size_t i = self.rank(); i-- > 0;) {
    if (!removed[i] || !(self.sizes[i] == SymInt(1))) continue;
    erase_at(spec.sizes, i);
    erase_at(spec.strides, i);
  }
  return spec;
}

Value unsqueeze(const Call& call) {
  TensorSpec spec = call.self();
  const size_t dim = wrapped(call.integer("dim"), spec.rank() + 1);
  const SymInt stride = dim < spec.rank() ? spec.sizes[dim] * spec.strides[dim] : SymInt(1);
  insert_at(spec.sizes, dim, SymInt(1));
  insert_at(spec.strides, dim, stride);
  return spec;
}

Value select(const Call& call) {
  TensorSpec spec = call.self();
  if (spec.rank() == 0) call.refuse("the input must have at least one dim");
  const size_t dim = wrapped(call.integer("dim"), spec.rank());
  SymInt index = call.size("index");
  if (index.is_static() && index.value() < 0) index = index + spec.sizes[dim];
  spec.storage_offset = spec.storage_offset + index * spec.strides[dim];
  erase_at(spec.sizes, dim);
  erase_at(spec.strides, dim);
  return spec;
}

namespace {

// Clamps an index to [0, size]. A negative index counts from the end.
SymInt clamped(const SymInt& index, const SymInt& size) {
  if (!index.is_static()) return index;
  if (!size.is_static()) {
    if (index.value() > (int64_t{1} << 62)) return size;
    return index.value() < 0 ? size + index : index;
  }
  const int64_t at = index.value() < 0 ? index.value() + size.value() : index.value();
  return std::clamp<int64_t>(at, 0, size.value());
}

}  // namespace

Value slice(const Call& call) {
  TensorSpec spec = call.self();
  if (spec.rank() == 0) call.refuse("the input must have at least one dim");
  const size_t dim = wrapped(call.integer("dim"), spec.rank());
  const int64_t step = call.integer("step");
  if (step < 1) call.refuse(fmt::format("step is {}, but it must be positive", step));
  const SymInt size = spec.sizes[dim];
  const SymInt start = clamped(call.size("start", 0), size);
  const SymInt end = clamped(call.size("end", INT64_MAX), size);
  SymInt length = end - start;
  if (length.is_static()) length = std::max<int64_t>(length.value(), 0);
  spec.sizes[dim] = step == 1 ? length : (length + SymInt(step - 1)) / SymInt(step);
  spec.storage_offset = spec.storage_offset + start * spec.strides[dim];
  spec.strides[dim] = spec.strides[dim] * SymInt(step);
  return spec;
}

Value narrow(const Call& call) {
  TensorSpec spec = call.self();
  if (spec.rank() == 0) call.refuse("the input must have at least one dim");
  const size_t dim = wrapped(call.integer("dim"), spec.rank());
  spec.storage_offset =
      spec.storage_offset + clamped(call.size("start"), spec.sizes.at(dim)) * spec.strides[dim];
  spec.sizes.at(dim) = call.size("length");
  return spec;
}

namespace {

Value split_dim(TensorSpec spec, size_t dim, const std::vector<SymInt>& sizes) {
  Value::Items items;
  for (const SymInt& size : sizes) {
    spec.sizes.at(dim) = size;
    items.emplace_back(spec);
    spec.storage_offset = spec.storage_offset + size * spec.strides[dim];
  }
  return items;
}

// Maximum number of chunks. Limits the work that a small file can cause.
constexpr int64_t kMaxChunks = 1 << 14;

int64_t split_size_of(const Call& call, size_t dim) {
  const TensorSpec& self = call.self();
  if (self.rank() == 0) call.refuse("the input must have at least one dim");
  if (!self.sizes[dim].is_static()) {
    call.refuse(fmt::format("cannot split dim {}, because its size is symbolic", dim));
  }
  return self.sizes[dim].value();
}

Value split_equally(const Call& call, int64_t chunk_size, int64_t dim) {
  const TensorSpec& self = call.self();
  const size_t at = wrapped(dim, self.rank());
  const int64_t size = split_size_of(call, at);
  if (chunk_size < 1 || size / chunk_size > kMaxChunks) {
    call.refuse(fmt::format("cannot split size {} into chunks of {}", size, chunk_size));
  }
  std::vector<SymInt> sizes;
  for (int64_t left = size; left > 0; left -= chunk_size) {
    sizes.emplace_back(std::min(chunk_size, left));
  }
  if (sizes.empty()) sizes.emplace_back(0);
  return split_dim(self, at, sizes);
}

}  // namespace

Value split(const Call& call) {
  return split_equally(call, call.integer("split_size"), call.integer("dim"));
}

Value chunk(const Call& call) {
  const TensorSpec& self = call.self();
  const size_t dim = wrapped(call.integer("dim"), self.rank());
  const int64_t chunks = call.integer("chunks");
  const int64_t size = split_size_of(call, dim);
  if (chunks < 1) call.refuse(fmt::format("chunks is {}, but it must be positive", chunks));
  return split_equally(call, std::max<int64_t>((size + chunks - 1) / chunks, 1),
                       call.integer("dim"));
}

Value split_with_sizes(const Call& call) {
  const TensorSpec& self = call.self();
  if (self.rank() == 0) call.refuse("the input must have at least one dim");
  return split_dim(self, wrapped(call.integer("dim"), self.rank()), call.sizes("split_sizes"));
}

Value unbind(const Call& call) {
  TensorSpec spec = call.self();
  if (spec.rank() == 0) call.refuse("the input must have at least one dim");
  const size_t dim = wrapped(call.integer("dim"), spec.rank());
  if (!spec.sizes[dim].is_static() || spec.sizes[dim].value() > kMaxChunks) {
    call.refuse(fmt::format("cannot unbind dim {}: its size, {}, must be constant and at most {}",
                            dim, to_text(spec.sizes[dim]), kMaxChunks));
  }
  const int64_t count = spec.sizes[dim].value();
  const SymInt stride = spec.strides[dim];
  erase_at(spec.sizes, dim);
  erase_at(spec.strides, dim);
  Value::Items items;
  for (int64_t i = 0; i < count; ++i) {
    items.emplace_back(spec);
    spec.storage_offset = spec.storage_offset + stride;
  }
  return items;
}

Value diagonal(const Call& call) {
  TensorSpec spec = call.self();
  const int64_t offset = call.integer("offset");
  size_t first = wrapped(call.integer("dim1"), spec.rank());
  size_t second = wrapped(call.integer("dim2"), spec.rank());
  if (first == second || spec.rank() < 2) call.refuse("dim1 and dim2 must be different");
  if (!spec.sizes[first].is_static() || !spec.sizes[second].is_static()) {
    call.refuse("the sizes of dim1 and dim2 must not be symbolic");
  }
  if (offset > INT32_MAX || offset < -INT32_MAX)
    call.refuse(fmt::format("offset {} is out of range", offset));
  const int64_t rows = spec.sizes[first].value();
  const int64_t columns = spec.sizes[second].value();
  const int64_t length =
      offset >= 0 ? std::min(rows, columns - offset) : std::min(rows + offset, columns);
  const SymInt stride = spec.strides[first] + spec.strides[second];
  const SymInt shift =
      offset >= 0 ? SymInt(offset) * spec.strides[second] : SymInt(-offset) * spec.strides[first];
  if (length > 0) spec.storage_offset = spec.storage_offset + shift;
  if (first < second) std::swap(first, second);
  for (const size_t dim : {first, second}) {
    erase_at(spec.sizes, dim);
    erase_at(spec.strides, dim);
  }
  spec.sizes.emplace_back(std::max<int64_t>(length, 0));
  spec.strides.push_back(stride);
  return spec;
}

Value unfold(const Call& call) {
  TensorSpec spec = call.self();
  const size_t dim = wrapped(call.integer("dimension"), spec.rank());
  const int64_t size = call.integer("size");
  const int64_t step = call.integer("step");
  if (step < 1 || size < 0) call.refuse("step must be positive, and size must not be negative");
  const SymInt inner = spec.rank() == 0 ? SymInt(1) : spec.strides[dim];
  if (spec.rank() > 0) {
    spec.sizes[dim] = (spec.sizes[dim] - SymInt(size)) / SymInt(step) + SymInt(1);
    spec.strides[dim] = spec.strides[dim] * SymInt(step);
  }
  spec.sizes.emplace_back(size);
  spec.strides.push_back(inner);
  return spec;
}

Value as_strided(const Call& call) {
  TensorSpec spec = call.self();
  spec.sizes = call.sizes("size");
  spec.strides = call.sizes("stride");
  if (spec.sizes.size() != spec.strides.size())
    call.refuse(fmt::format("size has {} items, but stride has {}", spec.sizes.size(),
                            spec.strides.size()));
  spec.storage_offset = call.size("storage_offset", spec.storage_offset);
  return spec;
}

Value view_as_real(const Call& call) {
  TensorSpec spec = call.self();
  if (!is_complex(spec.dtype)) call.refuse("the input must be complex");
  spec.dtype = spec.dtype == ScalarType::kComplexDouble ? ScalarType::kDouble : ScalarType::kFloat;
  for (SymInt& stride : spec.strides) stride = stride * SymInt(2);
  spec.storage_offset = spec.storage_offset * SymInt(2);
  spec.sizes.emplace_back(2);
  spec.strides.emplace_back(1);
  return spec;
}

Value view_as_complex(const Call& call) {
  TensorSpec spec = call.self();
  const bool is_double = spec.dtype == ScalarType::kDouble;
  if (!is_double && spec.dtype != ScalarType::kFloat) call.refuse("the input must be f32 or f64");
  if (spec.sizes.empty() || spec.sizes.back() != SymInt(2)) {
    call.refuse("the last dim of the input must have the size 2");
  }
  spec.dtype = is_double ? ScalarType::kComplexDouble : ScalarType::kComplexFloat;
  spec.sizes.pop_back();
  spec.strides.pop_back();
  for (SymInt& stride : spec.strides) stride = stride / SymInt(2);
  spec.storage_offset = spec.storage_offset / SymInt(2);
  return spec;
}

}  // namespace vitrine::aot::results
