#include "aot/import/unwrap_subclasses.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "aot/graph/node_error.h"

namespace vitrine::aot {
namespace {

// "fc.weight", 1 -> "fc.parametrizations.weight.original1"
std::string name_of_part(const std::string& weight, size_t index) {
  const size_t dot = weight.rfind('.');
  const std::string module = dot == std::string::npos ? "" : weight.substr(0, dot + 1);
  return fmt::format("{}parametrizations.{}.original{}", module, weight.substr(module.size()),
                     index);
}

class Unwrapper {
 public:
  Unwrapper(ExportedProgram& program, const InputSpec& spec, const TensorSubclass& subclass)
      : program_(program), spec_(spec), subclass_(subclass), parts_(subclass.parts.size()) {}

  void run() {
    Node* whole = program_.graph->find(spec_.name);
    take_parts(*whole, "");
    const auto found = std::ranges::find(program_.signature.inputs, spec_.name, &InputSpec::name);
    program_.graph->erase(whole);
    const auto at = program_.signature.inputs.erase(found);
    program_.signature.inputs.insert(at, inputs_.begin(), inputs_.end());
  }

 private:
  // Replaces what takes attributes of `object`, which is at `path` in the subclass.
  void take_parts(Node& object, const std::string& path) {
    static const Target kAccess = Target::of("export.access_subclass_inner_tensor.default");
    const std::vector<Node*> users = object.users();
    for (Node* user : users) {
      const Argument* attribute = user->calls(kAccess) ? user->arg(1) : nullptr;
      const auto* name = attribute == nullptr ? nullptr : attribute->get<std::string>();
      if (name == nullptr || user->need(0).node() != &object) {
        fail_at(*user, fmt::format("takes {} as a whole, which is a {}: export the model in "
                                   "training IR, where it is taken apart",
                                   spec_.target, subclass_.type));
      }
      const std::string inner = path.empty() ? *name : fmt::format("{}.{}", path, *name);
      const auto part = std::ranges::find(subclass_.parts, inner, &TensorSubclass::Part::path);
      if (part == subclass_.parts.end()) {
        take_object(*user, inner);
        continue;
      }
      user->replace_all_uses_with(
          placeholder_of(static_cast<size_t>(part - subclass_.parts.begin()), *user));
      program_.graph->erase(user);
    }
  }

  // An attribute that is a subclass itself.
  void take_object(Node& access, const std::string& path) {
    const bool is_there = std::ranges::any_of(
        subclass_.parts, [&](const auto& part) { return part.path.starts_with(path + "."); });
    if (!is_there) {
      fail_at(access, fmt::format("{} is a {}, which has no tensor {}", spec_.target,
                                  subclass_.type, path));
    }
    take_parts(access, path);
    program_.graph->erase(&access);
  }

  Node* placeholder_of(size_t index, const Node& access) {
    const TensorSubclass::Part& part = subclass_.parts[index];
    check(part, access);
    if (parts_[index] != nullptr) return parts_[index];
    InputSpec input = spec_;
    input.target = name_of_part(spec_.target, index);
    std::string name =
        fmt::format("{}_{}", spec_.kind == InputSpec::Kind::kParameter ? "p" : "b", input.target);
    std::ranges::replace(name, '.', '_');
    Node* whole = program_.graph->find(spec_.name);
    Node* node = program_.graph->placeholder(name, whole);
    node->meta.value = *access.tensor();
    input.name = node->name();
    TensorMap& map = is_in_state(spec_) ? program_.state_dict : program_.constants;
    if (!map.emplace(input.target, part.data).second) {
      fail_at(*node, fmt::format("there is a weight {} already", input.target));
    }
    inputs_.push_back(std::move(input));
    return parts_[index] = node;
  }

  // What the file says of the part in its graph is what the pickle holds.
  void check(const TensorSubclass::Part& part, const Node& access) const {
    const TensorSpec* spec = access.tensor();
    const bool fits = spec != nullptr && spec->dtype == part.data.dtype &&
                      std::ranges::equal(spec->sizes, part.data.sizes,
                                         [](const SymInt& a, int64_t b) { return a == SymInt(b); });
    if (fits) return;
    fail_at(access,
            fmt::format("is {}, but {} of {} is {}[{}]",
                        spec == nullptr ? "no tensor" : to_text(*spec), part.path, spec_.target,
                        scalar_type_name(part.data.dtype), fmt::join(part.data.sizes, ", ")));
  }

  ExportedProgram& program_;
  const InputSpec spec_;
  const TensorSubclass& subclass_;
  std::vector<Node*> parts_;  // placeholders of those that were taken
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
