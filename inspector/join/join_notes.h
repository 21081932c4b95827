#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "inspector/join/source_join.h"

namespace vitrine::inspector {

struct JoinCounts {
  std::map<std::string, size_t> unjoined, inferred, by_payload;  // numbers of operators, keyed by
                                                                 // delegate
  size_t compared_kernels = 0;
  size_t mismatched_kernels = 0;
  size_t compared_nodes = 0;
  size_t mismatched_nodes = 0;
};

void write_notes(const JoinCounts& counts, bool has_record, SourceJoin& join);

}  // namespace vitrine::inspector
