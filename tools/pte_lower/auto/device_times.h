// Computes times of a model's parts on a device, from profiles that were recorded there.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "aot/graph/exported_program.h"
#include "aot/quantize/int8.h"
#include "inspector/join/profile.h"
#include "tools/pte_lower/auto/parts.h"

namespace vitrine::tools {

// Maps the name of a part to its scheme. Parts without an entry are float.
using PartSchemes = std::map<std::string, std::string>;

// Predicts the time of a program: the time of the float program minus the time that the schemes of
// the parts save. A scheme also saves time outside of the parts. Each part that uses the scheme
// adds a share of this saving, in proportion to the time of the part in float.
class DeviceTimes {
 public:
  // `files` has "float=FILE", and "SCHEME=FILE" for one or more other schemes. FILE is a profile
  // from the device, of the program that uses the scheme in all parts that support it.
  // `profile_here(scheme)` profiles the same program on this machine. Each part must have the same
  // FLOPs in both profiles. If the scheme is float, each part must also have the same bytes. Throws
  // a ToolError that names `--device_times` if a profile cannot be read or is of another model.
  DeviceTimes(std::span<const std::string> files, const aot::ExportedProgram& program,
              const std::vector<ModelPart>& parts, const aot::CalibrationSample& sample,
              const std::function<inspector::Profile(const std::string& scheme)>& profile_here);

  bool has_scheme(const std::string& scheme) const { return schemes_.contains(scheme); }
  double saved_ms(const std::string& part, const std::string& scheme) const;
  double program_ms(const PartSchemes& schemes) const;
  const std::string& device() const { return device_; }

 private:
  struct Scheme {
    std::map<std::string, double> parts;  // ms of each part
    double rest_saved =
        0;  // ms saved outside of the parts, for each ms that the parts take in float
  };

  std::string device_;
  double float_ms_ = 0;
  std::map<std::string, Scheme> schemes_;  // with "float"
};

}  // namespace vitrine::tools
