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

struct LowerSettings {
  std::vector<std::string> backends;  // as pte_lower names them; none: no delegates
  bool fold_constants = false;
  bool record = false;   // makes an ETRecord too
  std::string quantize;  // as pte_lower's --quantize; empty: not
  bool optimize = false;
};

// By method. Throws HostErrors that name the file, node or option.
std::unique_ptr<aot::LoweredModel> lower(const std::map<std::string, std::filesystem::path>& models,
                                         const LowerSettings& settings);

// By method: subgraphs, nodes, and (op type, delegated, not delegated).
py::dict delegation_info(const aot::LoweredModel& model);

}  // namespace vitrine::python
