#include "tools/llm_runner/numerics/cache_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "llm/cache_operators.h"
#include "tools/common/tensors.h"

namespace vitrine::llm {
namespace {

std::string type_of(const Tensor& tensor) {
  return tools::describe(tensor.dtype(), tensor.sizes());
}

bool has_single_elements(const Tensor& tensor) {
  return tensor.rank() != 0 && tensor.size(tensor.rank() - 1) == 1;
}

// Reads the elements of a rank-4 cache as real numbers.
class CacheReader {
 public:
  explicit CacheReader(const DataCache& cache) : cache_(cache) {}

  // Returns the position dimension: 1 for ExecuTorch's operators, else the dimension of size
  // `context`.
  std::optional<size_t> position_dim(size_t context) const {
    const Tensor& values = *cache_.values.tensor;
    if (values.rank() != 4) return std::nullopt;
    for (const size_t dim : {1, 2}) {
      if (values.size(dim) == static_cast<int64_t>(context)) return dim;
    }
    return std::nullopt;
  }

  std::string why_unreadable() const {
    const Tensor& values = *cache_.values.tensor;
    if (is_floating(values.dtype())) return {};
    if (values.dtype() == ScalarType::kChar && cache_.scales != nullptr) return {};
    return "no scales were found for " + type_of(values);
  }

  // Appends the elements of a range of positions, in the order [batch, position, other dimensions].
  void append(size_t dim, const PositionRange& range, std::vector<double>& to) const {
    const Tensor& values = *cache_.values.tensor;
    const size_t other = dim == 1 ? 2 : 1;
    for (int64_t batch = 0; batch < values.size(0); ++batch) {
      for (size_t position = range.first; position < range.second; ++position) {
        for (int64_t head = 0; head < values.size(other); ++head) {
          int64_t index[4] = {batch, 0, 0, 0};
          index[dim] = static_cast<int64_t>(position);
          index[other] = head;
          append_row(index, to);
        }
      }
    }
  }

 private:
  static double element(const Tensor& tensor, const int64_t (&index)[4]) {
    int64_t offset = 0;
    for (size_t dim = 0; dim < 4; ++dim) offset += index[dim] * tensor.strides()[dim];
    const std::span bytes(static_cast<const std::byte*>(tensor.raw_data()), tensor.nbytes());
    return inspector::element_as_double(bytes, tensor.dtype(), static_cast<size_t>(offset));
  }

  void append_row(int64_t (&index)[4], std::vector<double>& to) const {
    const Tensor& values = *cache_.values.tensor;
    double scale = 1;
    double zero = 0;
    if (cache_.scales != nullptr) {
      scale = element(*cache_.scales, index);
      if (cache_.zero_points != nullptr) zero = element(*cache_.zero_points, index);
    }
    for (index[3] = 0; index[3] < values.size(3); ++index[3]) {
      to.push_back(scale * (element(values, index) - zero));
    }
    index[3] = 0;
  }

  const DataCache& cache_;
};

bool is_companion_of(const Tensor* companion, const Tensor& values) {
  return companion->rank() == values.rank() && values.rank() == 4 &&
         std::ranges::equal(companion->sizes().first(3), values.sizes().first(3));
}

CacheError compare(const DataCache& a, const DataCache& b, size_t context,
                   std::span<const PositionRange> ranges) {
  CacheError error{.layer = a.values.layer,
                   .role = a.values.role != CacheRole::kUnknown ? a.values.role : b.values.role,
                   .type_a = type_of(*a.values.tensor),
                   .type_b = type_of(*b.values.tensor),
                   .ranges = {},
                   .why_not = {}};
  const CacheReader reader_a(a);
  const CacheReader reader_b(b);
  for (const CacheReader* reader : {&reader_a, &reader_b}) {
    if (error.why_not.empty()) error.why_not = reader->why_unreadable();
  }
  const auto dim_a = reader_a.position_dim(context);
  const auto dim_b = reader_b.position_dim(context);
  if (error.why_not.empty() && (!dim_a || !dim_b)) {
    error.why_not = fmt::format("no dimension has {} positions", context);
  }
  if (!error.why_not.empty()) return error;
  for (const PositionRange& range : ranges) {
    std::vector<double> expected, actual;
    reader_a.append(*dim_a, range, expected);
    reader_b.append(*dim_b, range, actual);
    if (expected.size() != actual.size()) {
      error.why_not =
          fmt::format("caches of different shapes: {} and {}", error.type_a, error.type_b);
      error.ranges.clear();
      return error;
    }
    error.ranges.push_back(
        inspector::measure_difference({ScalarType::kDouble, std::as_bytes(std::span(actual))},
                                      {ScalarType::kDouble, std::as_bytes(std::span(expected))}));
  }
  return error;
}

// Assumes that each pair of successive caches belongs to one layer. Without enough names in
// `layers`, the names are "attention 2" and similar.
void name_by_order(std::vector<DataCache>& caches, std::span<const std::string> layers) {
  for (size_t i = 0; i < caches.size(); ++i) {
    const size_t layer = i / 2;
    caches[i].values.layer =
        layer < layers.size() ? layers[layer] : fmt::format("attention {}", layer);
    caches[i].values.role = CacheRole::kUnknown;
  }
}

// Returns the layers in the order of their caches, or an empty list unless each layer has two
// caches.
std::vector<std::string> layers_of_two(std::span<const DataCache> caches) {
  std::vector<std::string> layers;
  for (const DataCache& cache : caches) {
    const std::string& layer = cache.values.layer;
    if (std::ranges::count(layers, layer) == 0) layers.push_back(layer);
  }
  const bool are_two = std::ranges::all_of(layers, [&](const std::string& layer) {
    return !layer.empty() && std::ranges::count_if(caches, [&](const DataCache& cache) {
                               return cache.values.layer == layer;
                             }) == 2;
  });
  return are_two ? layers : std::vector<std::string>();
}

bool are_named(std::span<const DataCache> caches) {
  return std::ranges::none_of(caches,
                              [](const DataCache& cache) { return cache.values.layer.empty(); });
}

bool have_roles(std::span<const DataCache> caches) {
  return std::ranges::none_of(
      caches, [](const DataCache& cache) { return cache.values.role == CacheRole::kUnknown; });
}

std::vector<DataCache> caches_of(std::span<const DataCache> caches, const std::string& layer) {
  std::vector<DataCache> found;
  std::ranges::copy_if(caches, std::back_inserter(found),
                       [&](const DataCache& cache) { return cache.values.layer == layer; });
  return found;
}

double noise_of(std::span<const CacheError> errors) {
  double noise = 0;
  for (const CacheError& error : errors) {
    for (const inspector::TensorDifference& range : error.ranges) noise += range.noise;
  }
  return noise;
}

std::vector<CacheError> compare_in_order(std::span<const DataCache> a, std::span<const DataCache> b,
                                         size_t context, std::span<const PositionRange> ranges) {
  std::vector<CacheError> errors;
  for (size_t i = 0; i < a.size(); ++i) errors.push_back(compare(a[i], b[i], context, ranges));
  return errors;
}

std::vector<CacheError> compare_layer(std::vector<DataCache>& a, std::vector<DataCache>& b,
                                      size_t context, std::span<const PositionRange> ranges) {
  const auto role = [](const DataCache& cache) { return cache.values.role; };
  std::ranges::stable_sort(a, {}, role);
  std::ranges::stable_sort(b, {}, role);
  std::vector<CacheError> errors = compare_in_order(a, b, context, ranges);
  if ((have_roles(a) && have_roles(b)) || errors.size() != 2 || !errors[0].why_not.empty()) {
    return errors;
  }
  std::swap(b[0], b[1]);
  std::vector<CacheError> swapped = compare_in_order(a, b, context, ranges);
  const bool is_better = swapped[0].why_not.empty() && noise_of(swapped) < noise_of(errors);
  if (is_better) errors = std::move(swapped);
  for (CacheError& error : errors) error.is_paired_by_noise = true;
  return errors;
}

}  // namespace

bool CacheFinder::record_results(const TraceRecord& step, std::span<EValue* const> arguments,
                                 const Delegate* delegate) {
  if (delegate != nullptr || step.kind != TraceRecord::Kind::kKernelCall || step.name == nullptr) {
    return false;
  }
  const std::string_view name = step.name;
  const CacheOperator* known = find_cache_operator(name.substr(0, name.find('.')));
  if (known == nullptr) return false;
  for (const int index : known->written_args) {
    if (index < 0 || static_cast<size_t>(index) >= arguments.size()) continue;
    const EValue& value = *arguments[static_cast<size_t>(index)];
    if (!value.is_tensor()) continue;
    const Tensor& tensor = value.unchecked_tensor();
    if (tensor.raw_data() == nullptr) continue;
    const bool is_known = std::ranges::any_of(caches_, [&](const FoundCache& cache) {
      return cache.tensor->raw_data() == tensor.raw_data();
    });
    if (!is_known) caches_.push_back({step.instruction_id, &tensor});
  }
  return false;
}

std::vector<DataCache> data_caches(std::span<const FoundCache> caches) {
  std::vector<DataCache> data;
  std::vector<const Tensor*> scales, zero_points;
  for (const FoundCache& cache : caches) {
    if (!has_single_elements(*cache.tensor)) {
      data.push_back({cache});
    } else {
      (is_floating(cache.tensor->dtype()) ? scales : zero_points).push_back(cache.tensor);
    }
  }
  std::vector<DataCache*> quantized;
  for (DataCache& cache : data) {
    if (cache.values.tensor->dtype() == ScalarType::kChar) quantized.push_back(&cache);
  }
  if (scales.size() != quantized.size()) return data;
  const bool has_zero_points = zero_points.size() == quantized.size();
  if (!has_zero_points && !zero_points.empty()) return data;
  for (size_t i = 0; i < quantized.size(); ++i) {
    const Tensor& values = *quantized[i]->values.tensor;
    if (!is_companion_of(scales[i], values)) continue;
    if (has_zero_points && !is_companion_of(zero_points[i], values)) continue;
    quantized[i]->scales = scales[i];
    if (has_zero_points) quantized[i]->zero_points = zero_points[i];
  }
  return data;
}

std::vector<CacheError> compare_caches(std::span<const FoundCache> a, std::span<const FoundCache> b,
                                       size_t context, std::span<const PositionRange> ranges,
                                       std::string& why_not) {
  std::vector<DataCache> caches_a = data_caches(a);
  std::vector<DataCache> caches_b = data_caches(b);
  if (caches_a.empty()) why_not = "no operator that writes a cache was found";
  if (caches_a.size() != caches_b.size()) {
    why_not = fmt::format("the reference has {} caches, but the program has {}", caches_a.size(),
                          caches_b.size());
    return {};
  }
  if (!are_named(caches_a)) name_by_order(caches_a, layers_of_two(caches_b));
  if (!are_named(caches_b)) name_by_order(caches_b, layers_of_two(caches_a));
  std::vector<CacheError> errors;
  for (size_t i = 0; i < caches_a.size(); ++i) {
    const std::string& layer = caches_a[i].values.layer;
    if (std::ranges::count(errors, layer, &CacheError::layer) != 0) continue;  // already compared
    std::vector<DataCache> of_a = caches_of(caches_a, layer);
    std::vector<DataCache> of_b = caches_of(caches_b, layer);
    if (of_a.size() != of_b.size()) {
      why_not = fmt::format("{} has {} caches in the reference, but {} in the program", layer,
                            of_a.size(), of_b.size());
      return {};
    }
    std::vector<CacheError> found = compare_layer(of_a, of_b, context, ranges);
    std::ranges::move(found, std::back_inserter(errors));
  }
  return errors;
}

}  // namespace vitrine::llm
