#include "aot/import/saved_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/saved_objects.h"

namespace vitrine::aot {
namespace {

using Kind = PickleNode::Kind;

constexpr uint64_t kMaxStorageBytes = uint64_t{1} << 40;
// Maximum nesting of subclasses, because a pickled object can contain itself. torchao needs three.
constexpr int kMaxSubclassDepth = 4;
constexpr size_t kMaxInnerTensors = 64;

// The function that rebuilds an object from a pickle. The arguments are (creating function, type,
// arguments of the creating function, attributes).
constexpr std::string_view kRebuildWithState = "torch._tensor _rebuild_from_type_v2";
// The function that creates a tensor subclass. The arguments are (type, dtype, sizes, strides,
// offset, layout, device, requires_grad).
constexpr std::string_view kRebuildSubclass = "torch._utils _rebuild_wrapper_subclass";
constexpr std::array<std::string_view, 2> kRebuildParameter = {
    "torch._utils _rebuild_parameter", "torch._utils _rebuild_parameter_with_state"};

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

class Reader {
 public:
  Reader(SavedObjects& objects, SavedWeights& weights) : objects_(objects), weights_(weights) {}

  void add(const std::string& name, const PickleNode& value) {
    name_ = &name;
    if (const PickleNode* call = subclass_in(value)) {
      TensorSubclass made;
      made.type = type_of(*call);
      made.sizes = sizes_of(*call);
      add_inner_tensors(*call, "", 0, made);
      if (made.inner_tensors.empty()) fail(fmt::format("is a {} without tensors", made.type));
      weights_.subclasses.insert_or_assign(name, std::move(made));
    } else {
      weights_.tensors.insert_or_assign(name, tensor(value, ""));
    }
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    objects_.fail(fmt::format("\"{}\" {}", *name_, what));
  }

  const PickleNode& item(const PickleNode& list, size_t index, Kind kind,
                         std::string_view what) const {
    if (index >= list.items.size() || objects_.node(list.items[index]).kind != kind) fail(what);
    return objects_.node(list.items[index]);
  }
  const std::string& callee(const PickleNode& call) const {
    return objects_.node(call.items[0]).text;
  }
  const PickleNode& arguments(const PickleNode& call) const { return objects_.node(call.items[1]); }

  // Finds the call that rebuilds a tensor subclass in `value` or in a parameter. Null if `value` is
  // not a subclass.
  const PickleNode* subclass_in(const PickleNode& value) const {
    if (value.kind != Kind::kCall) return nullptr;
    if (std::ranges::count(kRebuildParameter, callee(value)) != 0 &&
        !arguments(value).items.empty()) {
      const PickleNode& inner = objects_.node(arguments(value).items[0]);
      return inner.kind == Kind::kCall && callee(inner) == kRebuildWithState ? subclass_in(inner)
                                                                             : nullptr;
    }
    if (callee(value) != kRebuildWithState) return nullptr;
    const PickleNode& rebuild =
        item(arguments(value), 0, Kind::kGlobal, "is rebuilt by something that is not a function");
    return rebuild.text == kRebuildSubclass ? &value : nullptr;
  }

  const PickleNode& rebuild_arguments(const PickleNode& call) const {
    return item(arguments(call), 2, Kind::kList, "is a tensor subclass without arguments");
  }
  std::string type_of(const PickleNode& call) const {
    return item(arguments(call), 1, Kind::kGlobal, "is a tensor subclass without a type").text;
  }
  std::vector<int64_t> sizes_of(const PickleNode& call) const {
    constexpr std::string_view kWrong = "is a tensor subclass without sizes";
    const PickleNode& list = item(rebuild_arguments(call), 2, Kind::kList, kWrong);
    std::vector<int64_t> sizes;
    for (size_t i = 0; i < list.items.size(); ++i) {
      sizes.push_back(item(list, i, Kind::kInt, kWrong).number);
    }
    return sizes;
  }

  TensorData tensor(const PickleNode& value, const std::string& path) const {
    if (value.kind != Kind::kCall) fail("is not a tensor");
    TensorData data = data_of(objects_.tensor(value));
    if (const std::string error = data.check(); !error.empty()) {
      fail(path.empty() ? error : fmt::format("contains tensor {}, which {}", path, error));
    }
    return data;
  }

  // Adds the tensors among the attributes of a subclass, and of nested subclasses, to `made`.
  // `call` is the pickled call that rebuilds the subclass.
  void add_inner_tensors(const PickleNode& call, const std::string& path, int depth,
                         TensorSubclass& made) const {
    if (depth == kMaxSubclassDepth) {
      fail(fmt::format("nests tensor subclasses deeper than {} levels", kMaxSubclassDepth));
    }
    const PickleNode& state =
        item(arguments(call), 3, Kind::kDict, "is a tensor subclass without attributes");
    for (size_t i = 0; i + 1 < state.items.size(); i += 2) {
      const PickleNode& value = objects_.node(state.items[i + 1]);
      if (value.kind != Kind::kCall) continue;
      const std::string& key = item(state, i, Kind::kText, "has an attribute without a name").text;
      std::string inner = path.empty() ? key : fmt::format("{}.{}", path, key);
      if (const PickleNode* subclass = subclass_in(value)) {
        add_inner_tensors(*subclass, inner, depth + 1, made);
      } else if (objects_.is_tensor(value)) {
        if (made.inner_tensors.size() == kMaxInnerTensors) {
          fail(fmt::format("contains more than the maximum of {} tensors", kMaxInnerTensors));
        }
        TensorData data = tensor(value, inner);
        made.inner_tensors.push_back({std::move(inner), std::move(data)});
      }
    }
  }

  SavedObjects& objects_;
  SavedWeights& weights_;
  const std::string* name_ = nullptr;
};

}  // namespace

SavedWeights read_saved_tensors(const SharedBytes& bytes, const std::string& source) {
  SavedWeights weights;
  if (bytes.span.empty()) return weights;
  SavedObjects objects(bytes, source, kMaxStorageBytes);
  if (objects.root().kind != Kind::kDict) objects.fail("is not a dict of tensors");
  Reader reader(objects, weights);
  const std::vector<size_t>& items = objects.root().items;
  for (size_t i = 0; i < items.size(); i += 2) {
    const std::string& name =
        objects.node(items[i], Kind::kText, "has a key that is not text").text;
    reader.add(name, objects.node(items[i + 1]));
  }
  return weights;
}

void read_saved_tensor(const SharedBytes& bytes, const std::string& source, const std::string& name,
                       SavedWeights& weights) {
  SavedObjects objects(bytes, source, kMaxStorageBytes);
  Reader(objects, weights).add(name, objects.root());
}

}  // namespace vitrine::aot
