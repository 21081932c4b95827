#include "aot/emit/shared_buffers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <utility>

#include "aot/graph/aot_error.h"

namespace vitrine::aot {
namespace {

struct BufferOfMethod {
  const TensorData* data = nullptr;
  const std::string* method = nullptr;
};

void check_same(const std::string& name, const BufferOfMethod& first, const BufferOfMethod& other) {
  if (first.data->dtype == other.data->dtype && first.data->sizes == other.data->sizes) return;
  throw AotError(fmt::format(
      "methods {} and {} share the buffer {}, but it is {}[{}] in the first and {}[{}] in "
      "the second",
      *first.method, *other.method, name, scalar_type_name(first.data->dtype),
      fmt::join(first.data->sizes, ", "), scalar_type_name(other.data->dtype),
      fmt::join(other.data->sizes, ", ")));
}

// Rejects a shared buffer with different initial values, because its value would depend on the
// order in which the methods run.
void check_same_start(const std::string& name, const BufferOfMethod& first,
                      const BufferOfMethod& other) {
  if (row_major_bytes(*first.data) == row_major_bytes(*other.data)) return;
  throw AotError(fmt::format("methods {} and {} share the buffer {}, but its initial values differ",
                             *first.method, *other.method, name));
}

}  // namespace

SharedBuffers share_buffers(const Methods& methods, size_t alignment) {
  SharedBuffers shared;
  std::map<std::string, BufferOfMethod, std::less<>> seen;
  for (const auto& [method, program] : methods) {
    for (const InputSpec& input : program.signature.inputs) {
      if (input.kind != InputSpec::Kind::kBuffer || !program.is_mutated(input)) continue;
      const BufferOfMethod here{program.data_of(input), &method};
      if (here.data == nullptr)
        throw AotError(
            fmt::format("method {}: the model has no data for {}", method, input.target));
      const auto [first, is_new] = seen.emplace(input.target, here);
      if (!is_new) {
        check_same(input.target, first->second, here);
        check_same_start(input.target, first->second, here);
        continue;
      }
      shared.offsets.emplace(input.target, shared.bytes);
      const auto bytes = static_cast<uint64_t>(here.data->numel()) * element_size(here.data->dtype);
      shared.bytes += (bytes + alignment - 1) / alignment * alignment;
    }
  }
  return shared;
}

void mark_shared_buffers(Methods& methods) {
  std::set<std::string, std::less<>> mutated;
  for (const auto& [name, program] : methods) {
    for (const OutputSpec& output : program.signature.outputs) {
      if (output.kind == OutputSpec::Kind::kBufferMutation) mutated.insert(output.target);
    }
  }
  for (auto& [name, program] : methods) {
    Node& output = *program.graph->output();
    ArgumentList results = *output.need(0).list();
    std::vector<OutputSpec> specs;
    ArgumentList unchanged;
    for (const InputSpec& input : program.signature.inputs) {
      const bool is_shared = input.kind == InputSpec::Kind::kBuffer &&
                             mutated.contains(input.target) && !program.is_mutated(input);
      if (!is_shared) continue;
      OutputSpec spec;
      spec.kind = OutputSpec::Kind::kBufferMutation;
      spec.name = input.name;
      spec.target = input.target;
      specs.push_back(std::move(spec));
      unchanged.emplace_back(program.graph->find(input.name));
    }
    results.insert(results.begin(), unchanged.begin(), unchanged.end());
    std::vector<OutputSpec>& outputs = program.signature.outputs;
    outputs.insert(outputs.begin(), specs.begin(), specs.end());
    if (!specs.empty()) output.set_args({Argument::tuple(std::move(results))});
  }
}

}  // namespace vitrine::aot
