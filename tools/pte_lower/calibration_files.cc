#include "tools/pte_lower/calibration_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "aot/graph/tensor_spec.h"
#include "aot/quantize/stored_floats.h"
#include "tools/common/files.h"
#include "tools/common/npy.h"
#include "tools/common/sample_files.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

namespace fs = std::filesystem;

// If files in a folder have this prefix, other files are ignored.
constexpr std::string_view kCalibrationPrefix = "calib_";

struct ModelInput {
  std::string name;
  aot::TensorSpec spec;
};
using ModelInputs = std::vector<ModelInput>;

[[noreturn]] void refuse(const fs::path& path, std::string_view text) {
  throw ToolError(fmt::format("--calibrate {}: {}", path.string(), text));
}

ModelInputs inputs_of(const aot::ExportedProgram& program) {
  ModelInputs inputs;
  for (const aot::InputSpec& spec : program.signature.inputs) {
    if (spec.kind != aot::InputSpec::Kind::kUserInput) continue;
    const aot::Node* node = program.graph->find(spec.name);
    if (node != nullptr && node->tensor() != nullptr)
      inputs.push_back({spec.name, *node->tensor()});
  }
  return inputs;
}

// Computes an input's sizes from the bytes in a raw file. At most one size may be dynamic.
std::vector<int64_t> sizes_of_bytes(const fs::path& file, const ModelInput& input, uint64_t bytes) {
  std::vector<int64_t> sizes;
  std::optional<size_t> dynamic;
  uint64_t known = element_size(input.spec.dtype);
  for (const auto& size : input.spec.sizes) {
    if (!size.is_static() && dynamic) {
      refuse(file, fmt::format("the input {} is {}, with several dynamic sizes; use a .npy file, "
                               "which stores its shape",
                               input.name, aot::to_text(input.spec)));
    }
    if (!size.is_static()) dynamic = sizes.size();
    sizes.push_back(size.is_static() ? size.value() : 1);
    known *= static_cast<uint64_t>(sizes.back());
  }
  if (dynamic && known != 0 && bytes % known == 0) {
    sizes[*dynamic] = static_cast<int64_t>(bytes / known);
  } else if (bytes != known) {
    refuse(file, fmt::format("the file has {} bytes, but the input {} is {} and needs {}{}", bytes,
                             input.name, aot::to_text(input.spec), dynamic ? "a multiple of " : "",
                             known));
  }
  return sizes;
}

aot::TensorData checked(const fs::path& file, const ModelInput& input, NumpyArray array) {
  if (array.dtype != input.spec.dtype) {
    refuse(file, fmt::format("the array is {}, but the input {} is {}",
                             scalar_type_name(array.dtype), input.name, aot::to_text(input.spec)));
  }
  bool has_shape = array.sizes.size() == input.spec.rank();
  for (size_t i = 0; has_shape && i < array.sizes.size(); ++i) {
    const auto& size = input.spec.sizes[i];
    has_shape = !size.is_static() || size.value() == array.sizes[i];
  }
  if (!has_shape) {
    refuse(file, fmt::format("the array has the shape [{}], but the input {} is {}",
                             fmt::join(array.sizes, ", "), input.name, aot::to_text(input.spec)));
  }
  aot::TensorData data =
      aot::make_tensor_data(array.dtype, std::move(array.sizes), std::move(array.bytes));
  if (aot::is_float(data.dtype) &&
      std::ranges::any_of(aot::floats_of(data), [](float value) { return std::isnan(value); })) {
    refuse(file, fmt::format("the values of the input {} contain NaN", input.name));
  }
  return data;
}

SampleQuery query_for(const ModelInputs& inputs) {
  SampleQuery query{.option = "--calibrate", .prefix = kCalibrationPrefix, .inputs = {}};
  for (const ModelInput& input : inputs) query.inputs.push_back(input.name);
  return query;
}

aot::CalibrationSample read_sample(const SampleFiles& sample, const ModelInputs& inputs) {
  aot::CalibrationSample made;
  made.name = sample.name;
  std::map<std::string, NumpyArray> arrays;
  if (sample.is_archive()) arrays = read_npz(sample.files[0]);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const fs::path& file = sample.files[sample.is_archive() ? 0 : i];
    NumpyArray array;
    if (sample.is_archive()) {
      array = take_array(file, query_for(inputs), i, arrays);
    } else if (file.extension() == ".npy") {
      array = parse_npy(read_file(file), file.string());
    } else {
      array.dtype = inputs[i].spec.dtype;
      array.bytes = read_file(file);
      array.sizes = sizes_of_bytes(file, inputs[i], array.bytes.size());
    }
    made.inputs.push_back(checked(file, inputs[i], std::move(array)));
  }
  return made;
}

}  // namespace

aot::CalibrationData find_calibration_data(const std::vector<std::string>& paths,
                                           const aot::ExportedProgram& program) {
  const ModelInputs inputs = inputs_of(program);
  if (inputs.empty()) throw ToolError("--calibrate: the model has no tensor inputs");
  std::vector<SampleFiles> samples = find_samples(paths, query_for(inputs));
  aot::CalibrationData data;
  data.count = samples.size();
  data.read = [samples = std::move(samples), inputs](size_t index) {
    return read_sample(samples.at(index), inputs);
  };
  return data;
}

}  // namespace vitrine::tools
