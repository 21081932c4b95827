// Reads calibration data from files. tools/common/sample_files.h describes the file layouts.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "aot/graph/exported_program.h"
#include "aot/quantize/calibrate.h"

namespace vitrine::tools {

// The result reads each sample when it is needed, and checks its shapes, dtypes and values.
// ToolErrors name the option --calibrate and the file.
aot::CalibrationData find_calibration_data(const std::vector<std::string>& paths,
                                           const aot::ExportedProgram& program);

}  // namespace vitrine::tools
