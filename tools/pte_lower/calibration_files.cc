#include "tools/pte_lower/calibration_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>
#include <sstream>
#include <string_view>

#include "aot/graph/tensor_spec.h"
#include "aot/quantize/stored_floats.h"
#include "tools/common/files.h"
#include "tools/common/npy.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

namespace fs = std::filesystem;

// If a folder also has other tensors, its calibration data are the files with this prefix.
constexpr std::string_view kCalibrationPrefix = "calib_";
constexpr std::array<std::string_view, 3> kExtensions = {".bin", ".npy", ".npz"};

struct ModelInput {
  std::string name;
  aot::TensorSpec spec;
};
using ModelInputs = std::vector<ModelInput>;

// A sample: its name for errors, and a file per input, or one .npz file.
struct SampleFiles {
  std::string name;
  std::vector<fs::path> files;
};

[[noreturn]] void refuse(const fs::path& path, std::string_view text) {
  throw ToolError(fmt::format("--calibrate {}: {}", path.string(), text));
}

// Compares names, with numbers inside them by value: "2" is before "10".
bool is_before(const std::string& a, const std::string& b) {
  size_t i = 0;
  size_t j = 0;
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const auto digits = [&](const std::string& text, size_t& at) {
    while (at < text.size() && text[at] == '0') ++at;
    const size_t start = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return std::string_view(text).substr(start, at - start);
  };
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const std::string_view x = digits(a, i);
      const std::string_view y = digits(b, j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
    }
  }
  return a.size() - i < b.size() - j || (a.size() - i == b.size() - j && a < b);
}

bool is_data_file(const fs::path& path) {
  return std::ranges::find(kExtensions, path.extension().string()) != kExtensions.end();
}

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  for (const auto& entry : fs::directory_iterator(folder)) entries.push_back(entry.path());
  std::ranges::sort(entries, [](const fs::path& a, const fs::path& b) {
    return is_before(a.filename().string(), b.filename().string());
  });
  return entries;
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

class SampleFinder {
 public:
  explicit SampleFinder(const ModelInputs& inputs) : inputs_(inputs) {}

  void add(const fs::path& path, int depth = 0) {
    if (!fs::exists(path)) refuse(path, "the file does not exist");
    if (fs::is_directory(path)) {
      add_folder(path);
    } else if (path.extension() == ".txt" && depth == 0) {
      add_list(path);
    } else if (is_data_file(path)) {
      add_file(path);
    } else {
      refuse(path,
             "expected a .bin, .npy or .npz file, a folder of them, or a list of them (.txt)");
    }
  }

  std::vector<SampleFiles> take() {
    for (const SampleFiles& sample : samples_) {
      const bool is_archive = sample.files.size() == 1 && sample.files[0].extension() == ".npz";
      if (is_archive || sample.files.size() == inputs_.size()) continue;
      throw ToolError(
          fmt::format("--calibrate {}: expected a file for each of the inputs {}, found {}",
                      sample.name, input_names(), sample.files.size()));
    }
    return std::move(samples_);
  }

 private:
  std::string input_names() const {
    std::vector<std::string> names;
    for (const ModelInput& input : inputs_) names.push_back(input.name);
    return fmt::format("{}", fmt::join(names, ", "));
  }

  void add_folder(const fs::path& folder) {
    std::vector<fs::path> entries = sorted_entries(folder);
    const bool has_prefix = std::ranges::any_of(entries, [](const fs::path& entry) {
      return is_data_file(entry) && entry.filename().string().starts_with(kCalibrationPrefix);
    });
    const size_t before = samples_.size();
    for (const fs::path& entry : entries) {
      if (!is_data_file(entry) || fs::is_directory(entry)) continue;
      if (has_prefix && !entry.filename().string().starts_with(kCalibrationPrefix)) continue;
      add_file(entry);
    }
    if (samples_.size() > before) return;
    for (const fs::path& entry : entries) {
      if (fs::is_directory(entry)) add_sample_folder(entry);
    }
    if (samples_.size() == before) {
      refuse(folder, "the folder has no .bin, .npy or .npz files");
    }
  }

  void add_sample_folder(const fs::path& folder) {
    const size_t before = samples_.size();
    for (const fs::path& entry : sorted_entries(folder)) {
      if (is_data_file(entry)) add_file(entry);
    }
    if (samples_.size() == before) refuse(folder, "the folder has no .bin, .npy or .npz files");
  }

  void add_list(const fs::path& list) {
    const std::vector<std::byte> bytes = read_file(list);
    std::istringstream lines(
        std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    const size_t before = samples_.size();
    for (std::string line; std::getline(lines, line);) {
      if (line.ends_with('\r')) line.pop_back();
      if (line.empty() || line.starts_with('#')) continue;
      add(list.parent_path() / line, 1);
    }
    if (samples_.size() == before) refuse(list, "the list has no files");
  }

  void add_file(const fs::path& file) {
    if (inputs_.size() < 2 || file.extension() == ".npz") {
      samples_.push_back({file.string(), {file}});
      return;
    }
    const auto [stem, index] = split_name(file);
    const std::string name = (file.parent_path() / stem).string();
    if (samples_.empty() || samples_.back().name != name) {
      samples_.push_back({name, std::vector<fs::path>(inputs_.size())});
    }
    fs::path& to = samples_.back().files[index];
    if (!to.empty()) refuse(file, fmt::format("the input {} has two files", inputs_[index].name));
    to = file;
  }

  // Splits "calib_3_ids" into "calib_3" and the index of the input.
  std::pair<std::string, size_t> split_name(const fs::path& file) const {
    const std::string stem = file.stem().string();
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (stem == inputs_[i].name) return {"", i};
      for (const std::string& suffix : {"_" + inputs_[i].name, fmt::format("_{}", i)}) {
        if (stem.ends_with(suffix)) return {stem.substr(0, stem.size() - suffix.size()), i};
      }
    }
    refuse(file,
           fmt::format("the model has the inputs {}; end the name with _{} or _0, or use .npz "
                       "files",
                       input_names(), inputs_.front().name));
  }

  const ModelInputs& inputs_;
  std::vector<SampleFiles> samples_;
};

// The sizes of an input in a file without a shape. At most one size may be dynamic.
std::vector<int64_t> sizes_of_bytes(const fs::path& file, const ModelInput& input, uint64_t bytes) {
  std::vector<int64_t> sizes;
  std::optional<size_t> dynamic;
  uint64_t known = element_size(input.spec.dtype);
  for (const auto& size : input.spec.sizes) {
    if (!size.is_static() && dynamic) {
      refuse(file, fmt::format("the input {} is {}; use a .npy file, which has a shape", input.name,
                               aot::to_text(input.spec)));
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

NumpyArray take_array(const fs::path& file, const ModelInput& input, size_t index,
                      std::map<std::string, NumpyArray>& arrays, size_t num_inputs) {
  auto found = arrays.find(input.name);
  if (found == arrays.end()) found = arrays.find(fmt::format("arr_{}", index));
  if (found == arrays.end() && arrays.size() == 1 && num_inputs == 1) found = arrays.begin();
  if (found == arrays.end()) {
    std::vector<std::string> names;
    for (const auto& [name, array] : arrays) names.push_back(name);
    refuse(file,
           fmt::format("expected the array \"{}\", found {}", input.name, fmt::join(names, ", ")));
  }
  return std::move(found->second);
}

aot::CalibrationSample read_sample(const SampleFiles& sample, const ModelInputs& inputs) {
  aot::CalibrationSample made;
  made.name = sample.name;
  std::map<std::string, NumpyArray> arrays;
  const bool is_archive = !sample.files.empty() && sample.files[0].extension() == ".npz";
  if (is_archive) arrays = read_npz(sample.files[0]);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const fs::path& file = sample.files[is_archive ? 0 : i];
    if (file.empty()) {
      throw ToolError(
          fmt::format("--calibrate {}: expected a file for each input, but the input {} "
                      "has none",
                      sample.name, inputs[i].name));
    }
    NumpyArray array;
    if (is_archive) {
      array = take_array(file, inputs[i], i, arrays, inputs.size());
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
  SampleFinder finder(inputs);
  for (const std::string& path : paths) finder.add(path);
  std::vector<SampleFiles> samples = finder.take();
  aot::CalibrationData data;
  data.count = samples.size();
  data.read = [samples = std::move(samples), inputs](size_t index) {
    return read_sample(samples.at(index), inputs);
  };
  return data;
}

}  // namespace vitrine::tools
