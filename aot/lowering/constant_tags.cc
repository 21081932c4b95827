#include "aot/lowering/constant_tags.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "aot/graph/aot_error.h"

namespace vitrine::aot {
namespace {

struct UsersOfTag {
  std::string tag;
  std::vector<Node*> users;
};

std::vector<UsersOfTag> users_by_tag(const Node& node) {
  std::vector<UsersOfTag> groups;
  for (Node* user : node.users()) {
    const std::string& tag = user->meta.delegation_tag;
    auto found = std::ranges::find(groups, tag, &UsersOfTag::tag);
    if (found == groups.end()) found = groups.insert(groups.end(), {tag, {}});
    found->users.push_back(user);
  }
  return groups;
}

void check_can_be_copied(const ExportedProgram& program, const Node& node, const InputSpec& spec,
                         const UsersOfTag& others) {
  const bool is_mutated = program.is_mutated(spec);
  if (!node.meta.no_copy && !is_mutated) return;
  throw AotError(
      fmt::format("node {}: is tagged {}, but its user {} is {}; the node cannot be copied, "
                  "because {}",
                  node.name(), node.meta.delegation_tag, others.users.front()->name(),
                  others.tag.empty() ? "not delegated" : fmt::format("tagged {}", others.tag),
                  is_mutated ? "the program mutates it" : "it is marked no_copy"));
}

void add_copy(ExportedProgram& program, Node& node, const UsersOfTag& group, size_t number) {
  Node* copy = program.graph->placeholder(fmt::format("{}_copy_{}", node.name(), number), &node);
  copy->meta = node.meta;
  copy->meta.delegation_tag = group.tag;
  const auto original = std::ranges::find(program.signature.inputs, node.name(), &InputSpec::name);
  InputSpec spec = *original;
  spec.name = copy->name();
  program.signature.inputs.insert(original, std::move(spec));
  for (Node* user : group.users) {
    user->replace_input(&node, copy);
    if (user->kind() != Node::Kind::kOutput) continue;
    for (OutputSpec& output : program.signature.outputs) {
      if (output.name == node.name()) output.name = copy->name();
    }
  }
}

// Returns the call that computes a buffer's new value. Null for unmutated buffers.
const Node* new_value(const ExportedProgram& program, const InputSpec& buffer) {
  for (const OutputSpec& output : program.signature.outputs) {
    if (output.kind == OutputSpec::Kind::kBufferMutation && output.target == buffer.target) {
      return program.graph->find(output.name);
    }
  }
  return nullptr;
}

}  // namespace

void tag_constants(ExportedProgram& program) {
  for (Node* node : program.graph->placeholders()) {
    const InputSpec* spec = program.input_of(node->name());
    if (spec == nullptr || !has_data(spec->kind) || program.is_mutated(*spec)) continue;
    for (const Node* user : node->users()) {
      if (user->meta.delegation_tag.empty()) continue;
      node->meta.delegation_tag = user->meta.delegation_tag;
      break;
    }
  }
}

void tag_mutated_buffers(ExportedProgram& program) {
  for (Node* node : program.graph->placeholders()) {
    const InputSpec* spec = program.input_of(node->name());
    if (spec == nullptr || spec->kind != InputSpec::Kind::kBuffer) continue;
    const Node* value = new_value(program, *spec);
    if (value == nullptr || value->meta.delegation_tag.empty()) continue;
    const std::string& tag = value->meta.delegation_tag;
    if (std::ranges::all_of(node->users(),
                            [&](const Node* user) { return user->meta.delegation_tag == tag; })) {
      node->meta.delegation_tag = tag;
    }
  }
}

void tag_external_constants(ExportedProgram& program, const FileOfWeight& file_of) {
  for (Node* node : program.graph->placeholders()) {
    const InputSpec* spec = program.input_of(node->name());
    if (spec == nullptr || !has_data(spec->kind) || program.is_mutated(*spec)) continue;
    node->meta.external_tag = file_of(*spec);
  }
}

void duplicate_shared_constants(ExportedProgram& program, std::string_view tag) {
  for (Node* node : program.graph->placeholders()) {
    if (node->meta.delegation_tag != tag) continue;
    const InputSpec* found = program.input_of(node->name());
    if (found == nullptr || !has_data(found->kind)) continue;  // Lowering::check_tags rejects it
    const InputSpec spec = *found;
    const std::vector<UsersOfTag> groups = users_by_tag(*node);
    const auto others = std::ranges::find_if(groups, [&](const auto& g) { return g.tag != tag; });
    if (others == groups.end()) continue;
    check_can_be_copied(program, *node, spec, *others);
    for (size_t i = 1; i < groups.size(); ++i) add_copy(program, *node, groups[i], i - 1);
    node->meta.delegation_tag = groups[0].tag;
  }
}

}  // namespace vitrine::aot
