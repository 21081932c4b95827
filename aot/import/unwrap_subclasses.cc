#include "aot/import/unwrap_subclasses.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "aot/graph/node_error.h"

namespace vitrine::aot {
namespace {

// Returns torch's name for an inner tensor: "fc.parametrizations.weight.original1" for tensor 1 of
// "fc.weight".
std::string inner_tensor_name(const std::string& weight, size_t index) {
  const size_t dot = weight.rfind('.');
  const std::string module = dot == std::string::npos ? "" : weight.substr(0, dot + 1);
  return fmt::format("{}parametrizations.{}.original{}", module, weight.substr(module.size()),
                     index);
}

class Unwrapper {
 public:
  Unwrapper(ExportedProgram& program, const InputSpec& spec, const TensorSubclass& subclass)
      : program_(program),
        spec_(spec),
        subclass_(subclass),
        placeholders_(subclass.inner_tensors.size()) {}

  void run() {
    Node* subclass = program_.graph->find(spec_.name);
    replace_users(*subclass, "");
    const auto found = std::ranges::find(program_.signature.inputs, spec_.name, &InputSpec::name);
    program_.graph->erase(subclass);
    const auto at = program_.signature.inputs.erase(found);
    program_.signature.inputs.insert(at, inputs_.begin(), inputs_.end());
  }

 private:
  // Replaces calls that access attributes of `object` with the placeholders of the inner tensors.
  // `path` lists the attributes from the subclass to `object`, separated by dots.
  void replace_users(Node& object, const std::string& path) {
    static const Target kAccess = Target::of("export.access_subclass_inner_tensor.default");
    const std::vector<Node*> users = object.users();
    for (Node* user : users) {
      const Argument* attribute = user->calls(kAccess) ? user->arg(1) : nullptr;
      const auto* name = attribute == nullptr ? nullptr : attribute->get<std::string>();
      if (name == nullptr || user->need(0).node() != &object) {
        fail_at(*user, fmt::format("uses weight {} of type {} without accessing its inner tensors; "
                                   "export the model in training IR, which accesses inner tensors",
                                   spec_.target, subclass_.type));
      }
      const std::string inner = path.empty() ? *name : fmt::format("{}.{}", path, *name);
      const auto tensor =
          std::ranges::find(subclass_.inner_tensors, inner, &TensorSubclass::InnerTensor::path);
      if (tensor == subclass_.inner_tensors.end()) {
        replace_nested_subclass(*user, inner);
        continue;
      }
      user->replace_all_uses_with(
          placeholder_of(static_cast<size_t>(tensor - subclass_.inner_tensors.begin()), *user));
      program_.graph->erase(user);
    }
  }

  void replace_nested_subclass(Node& access, const std::string& path) {
    const bool exists = std::ranges::any_of(subclass_.inner_tensors, [&](const auto& tensor) {
      return tensor.path.starts_with(path + ".");
    });
    if (!exists) {
      fail_at(access, fmt::format("{} is a {}, which has no tensor {}", spec_.target,
                                  subclass_.type, path));
    }
    replace_users(access, path);
    program_.graph->erase(&access);
  }

  Node* placeholder_of(size_t index, const Node& access) {
    const TensorSubclass::InnerTensor& tensor = subclass_.inner_tensors[index];
    check(tensor, access);
    if (placeholders_[index] != nullptr) return placeholders_[index];
    InputSpec input = spec_;
    input.target = inner_tensor_name(spec_.target, index);
    std::string name =
        fmt::format("{}_{}", spec_.kind == InputSpec::Kind::kParameter ? "p" : "b", input.target);
    std::ranges::replace(name, '.', '_');
    Node* subclass = program_.graph->find(spec_.name);
    Node* node = program_.graph->placeholder(name, subclass);
    node->meta.value = *access.tensor();
    input.name = node->name();
    TensorMap& map = is_in_state(spec_) ? program_.state_dict : program_.constants;
    if (!map.emplace(input.target, tensor.data).second) {
      fail_at(*node, fmt::format("the file already contains a weight {}", input.target));
    }
    inputs_.push_back(std::move(input));
    return placeholders_[index] = node;
  }

  // Checks that an inner tensor has the same dtype and sizes in the graph and in the pickle.
  void check(const TensorSubclass::InnerTensor& tensor, const Node& access) const {
    const TensorSpec* spec = access.tensor();
    const bool matches =
        spec != nullptr && spec->dtype == tensor.data.dtype &&
        std::ranges::equal(spec->sizes, tensor.data.sizes,
                           [](const SymInt& a, int64_t b) { return a == SymInt(b); });
    if (matches) return;
    fail_at(
        access,
        fmt::format("is {} in the graph, but the stored inner tensor {} of {} is {}[{}]",
                    spec == nullptr ? "not a tensor" : to_text(*spec), tensor.path, spec_.target,
                    scalar_type_name(tensor.data.dtype), fmt::join(tensor.data.sizes, ", ")));
  }

  ExportedProgram& program_;
  const InputSpec spec_;
  const TensorSubclass& subclass_;
  std::vector<Node*> placeholders_;  // one per inner tensor; null if nothing has accessed it
  std::vector<InputSpec> inputs_;
};

}  // namespace

void unwrap_subclasses(ExportedProgram& program,
                       const std::map<std::string, TensorSubclass, std::less<>>& subclasses) {
  const std::vector<InputSpec> inputs = program.signature.inputs;
  for (const InputSpec& spec : inputs) {
    if (!has_data(spec.kind)) continue;
    const auto found = subclasses.find(spec.target);
    if (found != subclasses.end()) Unwrapper(program, spec, found->second).run();
  }
}

}  // namespace vitrine::aot
