// Lowers an exported model in memory, in several variants.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "aot/pipeline/lower.h"
#include "aot/quantize/int8.h"
#include "tools/advise/context.h"
#include "tools/advise/variant.h"

namespace vitrine::tools {

struct LoweredProgram {
  std::vector<std::byte> bytes;
  aot::LoweredModel model;
  uint64_t planned_bytes = 0;  // of the method that runs
  double seconds = 0;          // that lowering took
};

class SourceModel {
 public:
  // Reads an exported model. The method of a .pt2 file has no name in the file, and gets the name
  // `method`. Throws HostError.
  SourceModel(std::filesystem::path file, std::string method);

  // Lowers the model in the same way as `vitrine lower FILE SETTINGS`. If the settings name no
  // calibration data, static int8 is calibrated with `stand_in`. Throws HostError.
  LoweredProgram lower(const Settings& settings, const aot::CalibrationData& stand_in = {}) const;

  ModelFacts facts() const;
  const aot::ExportedProgram& program() const;  // the method, before lowering
  const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
  std::string method_;
  aot::Methods methods_;
};

// Adds facts about the buffers that a program writes: their number, and the length, size and dtype
// of caches. Needs a lowered program, because the signature of an exported program does not list
// buffers that in-place calls write.
void add_written_buffers(const aot::ExportedProgram& program, ModelFacts& facts);

}  // namespace vitrine::tools
