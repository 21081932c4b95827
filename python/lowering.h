// vitrine.lower(): lowers exported models to programs.
#pragma once

#include <pybind11/pybind11.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aot/pipeline/lower.h"

namespace vitrine::python {

namespace py = pybind11;

// The keywords of vitrine.lower(), which are options of pte_lower.
struct LowerSettings {
  std::vector<std::string> backends;  // an empty list means no delegation
  std::vector<std::string> backend_options;
  std::vector<std::string> only_ops;
  std::vector<std::string> exclude_ops;
  std::vector<std::string> dynamic;    // "x.0=1:8"
  std::vector<std::string> operators;  // "my::op(Tensor x) -> Tensor"
  py::dict metadata;                   // name -> number, bool, or a sequence of numbers or bools
  std::string attention;               // "custom_sdpa", "auto", or "aten" (also if empty)
  std::string quantize;                // a scheme such as "8da4w:32", or empty
  std::vector<std::string> calibrate;  // files and folders
  std::vector<std::string> keep;       // "head=float"
  bool fold_constants = false;
  bool optimize = false;
  bool record = false;  // true: also makes an ETRecord
  bool debug_maps = true;
  bool external_constants = false;
  bool share_mutable_buffers = false;
  bool plan_inputs = true;
  bool plan_outputs = true;
};

// Converts the settings. Throws a HostError, TypeError or ValueError that names the option.
aot::LowerOptions lower_options(const LowerSettings& settings);

// Lowers the models. The keys of `models` are method names. Throws a HostError that names the file,
// node or option. The caller does not have to hold the GIL.
std::unique_ptr<aot::LoweredModel> lower(const std::map<std::string, std::filesystem::path>& models,
                                         const std::vector<std::string>& calibrate,
                                         aot::LowerOptions options);

// Arguments of quantize_auto(). Exactly one of at_least, at_most_bytes and at_most_ms must be set.
struct AutoSettings {
  std::optional<double> at_least;  // dB, or a score
  std::optional<double> at_most_bytes;
  std::optional<double> at_most_ms;
  size_t samples = 0;                     // number of samples to measure with
  std::optional<py::function> score;      // maps the bytes of a program to a number
  std::vector<std::string> device_times;  // "int8=int8.json": profiles from a device
};

struct AutoModel {
  std::unique_ptr<aot::LoweredModel> model;
  std::string json;
  std::string table;
  std::string html;
};

// Chooses the precision of each part of the model, and lowers the model. Throws the errors of
// lower(), a HostError if no measured program meets the bound, and exceptions of the score
// function. The caller must hold the GIL, which is released between calls to the score function.
AutoModel quantize_auto(const std::map<std::string, std::filesystem::path>& models,
                        const LowerSettings& settings, const AutoSettings& bounds);

// Writes the program to `path`, and external weights to files in the same folder.
void save(const aot::LoweredModel& model, const std::filesystem::path& path);

// Returns a dict from method names to tuples (subgraphs, delegated nodes, other nodes, list, text).
// The first three items are counts. The list has a tuple (op type, delegated nodes, other nodes)
// for each op type. The text shows all counts.
py::dict delegation_info(const aot::LoweredModel& model);

}  // namespace vitrine::python
