// Assigns weights to partitions.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

// Tags each parameter, constant and buffer with the tag of its first tagged user. Skips buffers
// that the program mutates. Partitioners call this after they have tagged their calls. Lowering
// gives users with other tags a copy.
void tag_constants(ExportedProgram& program);
// Tags each buffer that the program mutates if all its users and the call that computes its new
// value have the same tag. Such a buffer moves into the delegate.
void tag_mutated_buffers(ExportedProgram& program);

// Sets NodeMeta::external_tag of each parameter, constant and buffer that the program does not
// mutate to the result of `file_of`: the .ptd file for the weight, or "" for the program. This
// matters for delegates that store weights by name, as XNNPACK's do. Must run before lowering,
// since backends read the tag. ExecuTorch: delegate_external_constants_pass.
using FileOfWeight = std::function<std::string(const InputSpec&)>;
void tag_external_constants(ExportedProgram& program, const FileOfWeight& file_of);

// Splits each weight with this tag that has users with other tags, for lowering. The weight keeps
// its first user's tag and the users with that tag. For each other tag (or no tag), inserts a
// placeholder "<name>_copy_<n>" with that tag and the same data before the weight. Throws AotError
// if the weight must not be copied: it is marked NodeMeta::no_copy, or it is a buffer that the
// program mutates.
void duplicate_shared_constants(ExportedProgram& program, std::string_view tag);

}  // namespace vitrine::aot
