// Finds out for each call of a model whether the XNNPACK backend accepts it and, if not, why.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "aot/graph/exported_program.h"

namespace vitrine::tools {

struct DelegationReasons {
  struct Call {
    std::string op;       // of the edge dialect: "aten.mul.Scalar"
    std::string why_not;  // the text of pte_lower --explain; empty if XNNPACK takes the call
  };
  std::map<uint32_t, std::vector<Call>> of_handle;          // by debug handle
  std::map<std::string, std::vector<Call>> of_source = {};  // by aot::source_of()
};

// Converts the program to the edge dialect and partitions it like pte_lower --backend xnnpack, but
// does not write payloads. The nodes of `program` must have sources (aot::remember_sources). Throws
// an AotError.
DelegationReasons delegation_reasons(aot::ExportedProgram program);

inline constexpr const char* kReasonFact = "XNNPACK backend";  // what the text is about

// Returns one line for each different `why_not` of `calls`: "does not take it: REASON", or "takes
// it" if `why_not` is empty. If there are several lines, each names its ops instead of "it". The
// result is empty if `calls` is empty.
std::string reason_text(const std::vector<DelegationReasons::Call>& calls);

}  // namespace vitrine::tools
