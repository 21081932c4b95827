#include "aot/import/saved_tensors.h"

#include <fmt/format.h>

#include <utility>

#include "base/saved_objects.h"

namespace vitrine::aot {
namespace {

using Kind = PickleNode::Kind;

constexpr uint64_t kMaxStorageBytes = uint64_t{1} << 40;

TensorData data_of(SavedTensor saved) {
  TensorData data;
  data.dtype = saved.dtype;
  data.sizes = std::move(saved.sizes);
  data.strides = std::move(saved.strides);
  data.storage_offset = saved.storage_offset;
  data.requires_grad = saved.requires_grad;
  data.storage = saved.storage.span;
  data.owner = std::move(saved.storage.owner);
  return data;
}

}  // namespace

TensorMap read_saved_tensors(const SharedBytes& bytes, const std::string& place) {
  if (bytes.span.empty()) return {};
  SavedObjects objects(bytes, place, kMaxStorageBytes);
  if (objects.root().kind != Kind::kDict) objects.fail("is not a dict of tensors");
  TensorMap tensors;
  const std::vector<size_t>& items = objects.root().items;
  for (size_t i = 0; i < items.size(); i += 2) {
    const std::string& name =
        objects.node(items[i], Kind::kText, "has a key that is not text").text;
    const PickleNode& value =
        objects.node(items[i + 1], Kind::kCall, fmt::format("\"{}\" is not a tensor", name));
    TensorData data = data_of(objects.tensor(value));
    if (const std::string wrong = data.check(); !wrong.empty()) {
      objects.fail(fmt::format("\"{}\" {}", name, wrong));
    }
    tensors.insert_or_assign(name, std::move(data));
  }
  return tensors;
}

}  // namespace vitrine::aot
