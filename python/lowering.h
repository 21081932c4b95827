// vitrine.lower(): exported models -> programs.
#pragma once

#include <pybind11/pybind11.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "aot/pipeline/lower.h"

namespace vitrine::python {

namespace py = pybind11;

// As the options of pte_lower have it.
struct LowerSettings {
  std::vector<std::string> backends;  // none: no delegates
  std::vector<std::string> only_ops;
  std::vector<std::string> exclude_ops;
  std::vector<std::string> dynamic;    // "x.0=1:8"
  std::vector<std::string> operators;  // "my::op(Tensor x) -> Tensor"
  py::dict metadata;                   // name -> number, bool, or a sequence of them
  std::string attention;               // "custom_sdpa", "auto"; "aten" or empty: as it is
  std::string quantize;                // empty: not
  bool fold_constants = false;
  bool optimize = false;
  bool record = false;  // makes an ETRecord too
  bool debug_maps = true;
  bool external_constants = false;
  bool share_mutable_buffers = false;
  bool plan_inputs = true;
  bool plan_outputs = true;
};

// Throws HostErrors and TypeErrors that name the option.
aot::LowerOptions lower_options(const LowerSettings& settings);

// By method. Throws HostErrors that name the file, node or option. Needs no GIL.
std::unique_ptr<aot::LoweredModel> lower(const std::map<std::string, std::filesystem::path>& models,
                                         const aot::LowerOptions& options);

// The program to a file, and its external weights to files beside it.
void save(const aot::LoweredModel& model, const std::filesystem::path& path);

// By method: subgraphs, nodes, and (op type, delegated, not delegated).
py::dict delegation_info(const aot::LoweredModel& model);

}  // namespace vitrine::python
