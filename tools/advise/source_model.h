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
  uint64_t planned_bytes = 0;  // memory plan of the method that runs
  double seconds = 0;          // duration of lowering
};

class SourceModel {
 public:
  // Reads an exported model. `method` becomes the name of a .pt2 file's method. Throws HostError.
  SourceModel(std::filesystem::path file, std::string method);

  // Lowers the model as `vitrine lower FILE SETTINGS` does. Static int8 without calibration data
  // uses `stand_in`. Throws HostError.
  LoweredProgram lower(const Settings& settings, const aot::CalibrationData& stand_in = {}) const;

  ModelFacts facts() const;
  const aot::ExportedProgram& program() const;  // the method, before lowering
  const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
  std::string method_;
  aot::Methods methods_;
};

// Adds the number of written buffers, and the length, size and dtype of caches. Needs a lowered
// program, because an exported signature does not list buffers that in-place calls write.
void add_written_buffers(const aot::ExportedProgram& program, ModelFacts& facts);

}  // namespace vitrine::tools
