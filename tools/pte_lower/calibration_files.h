// Calibration data in files.
//
// A file is a sample if the model has one input. For models with several inputs, a sample is a .npz
// file with an array per input, a folder, or files whose names differ only in the end: an input's
// name or number ("3_ids.npy", "3_mask.npy"; "calib_3_0.bin", "calib_3_1.bin").
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "aot/graph/exported_program.h"
#include "aot/quantize/calibrate.h"

namespace vitrine::tools {

// Finds the samples in files, folders and lists (.txt: a path per line). Files of folders are in
// natural order: 2 before 10. Reads a sample when it is needed, and checks its shapes, dtypes and
// values. Throws ToolErrors that name the
// option --calibrate and the file.
aot::CalibrationData find_calibration_data(const std::vector<std::string>& paths,
                                           const aot::ExportedProgram& program);

}  // namespace vitrine::tools
