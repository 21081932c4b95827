#include "tools/executor_runner/inputs.h"

#include <fmt/format.h>

#include "tools/files.h"
#include "tools/tool_error.h"

namespace vitrine::tools {

InputSet::InputSet(const Method& method, const std::vector<InputSpec>& specs, uint64_t seed) {
  std::mt19937_64 generator(seed);
  size_t next = 0;
  for (size_t i = 0; i < method.num_inputs(); ++i) {
    others_.emplace_back();
    if (!method.input(i).is_tensor()) {
      tensors_.push_back(nullptr);
      others_.back() = tag_name(method.input(i).tag());
      continue;
    }
    const TensorInfo info = method.meta().input_tensor(i);
    if (next >= specs.size()) {
      tensors_.push_back(std::make_unique<HostTensor>(info.dtype, info.sizes, info.dim_order));
      tensors_.back()->fill_random(generator);
      continue;
    }
    const InputSpec& spec = specs[next++];
    const std::vector<std::byte> bytes = read_file(spec.file);
    if (spec.sizes && spec.sizes->size() != info.sizes.size()) {
      throw ToolError(fmt::format("--inputs {}: {} dimensions given, but the input is {}",
                                  spec.file.string(), spec.sizes->size(),
                                  describe(info.dtype, info.sizes)));
    }
    const std::span<const int32_t> sizes =
        spec.sizes ? std::span<const int32_t>(*spec.sizes) : info.sizes;
    auto tensor = std::make_unique<HostTensor>(info.dtype, sizes, info.dim_order);
    if (bytes.size() != tensor->bytes().size()) {
      throw ToolError(
          fmt::format("--inputs {}: {} bytes, but input {} is {}, {} bytes{}", spec.file.string(),
                      bytes.size(), i, describe(info.dtype, sizes), tensor->bytes().size(),
                      info.dynamism == ShapeDynamism::kDynamicBound && !spec.sizes
                          ? fmt::format("; its shape is dynamic: give the shape as {}:2x3...",
                                        spec.file.string())
                          : ""));
    }
    tensor->set_from_logical(bytes);
    tensors_.push_back(std::move(tensor));
  }
  if (next < specs.size()) {
    throw ToolError(fmt::format("--inputs: {} files for {} tensor inputs", specs.size(), next));
  }
}

void InputSet::apply(Method& method) {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (tensors_[i]) check(method.set_input(i, EValue(&tensors_[i]->tensor())));
  }
}

std::vector<std::string> InputSet::descriptions() const {
  std::vector<std::string> result;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    result.push_back(tensors_[i] ? describe(tensors_[i]->tensor()) : others_[i]);
  }
  return result;
}

}  // namespace vitrine::tools
