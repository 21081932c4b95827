// The example inputs and expected outputs that an ETRecord may hold: torch.save archives.
//
// Reads only the types that ExecuTorch puts there: lists, tuples, dicts, numbers, None and tensors.
// Never calls a function that an archive names. Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "formats/etrecord/etrecord.h"
#include "vitrine/scalar_type.h"

namespace vitrine::etrecord {

struct RecordedTensor {
  ScalarType dtype = ScalarType::kByte;
  std::vector<int64_t> sizes;
  std::vector<std::byte> data;  // row-major
};

using RecordedValue = std::variant<std::monostate, bool, int64_t, double, RecordedTensor>;

// RecordMembers::reference_outputs: by method, the outputs of each test set. `place` names the
// archive in FormatErrors. Refuses a plain pickle (as ExecuTorch wrote up to 0.7) and an archive
// whose tensors reach beyond their storage or would expand far beyond its size.
std::map<std::string, std::vector<std::vector<RecordedValue>>> parse_reference_outputs(
    std::string_view archive, const std::string& place = "reference_outputs");

// RecordMembers::representative_inputs: those of the first test set of "forward".
std::vector<RecordedValue> parse_representative_inputs(
    std::string_view archive, const std::string& place = "representative_inputs");

}  // namespace vitrine::etrecord
