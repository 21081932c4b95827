// Which partition takes which weights along.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

// For partitioners that have tagged their calls: tags each parameter, constant and buffer that has
// tagged users with the tag of the first of them. Lowering gives all others a copy. Buffers that
// the program changes stay as they are.
void tag_constants(ExportedProgram& program);
// Tags each buffer that the program changes if all that takes it and the call that makes its new
// value have one tag: then a delegate keeps it.
void tag_mutated_buffers(ExportedProgram& program);

// The .ptd that a weight goes to if a delegate takes it and keeps it by name, as XNNPACK's do; ""
// for the program. `file_of` is asked for each parameter, constant and buffer that the program does
// not change. To be called before lowering: backends read NodeMeta::external_tag. ExecuTorch's
// delegate_external_constants_pass.
using FileOfWeight = std::function<std::string(const InputSpec&)>;
void tag_external_constants(ExportedProgram& program, const FileOfWeight& file_of);

// For lowering. A weight that has this tag, but users with others, keeps the first user's tag and
// those that have it; each other tag, or none, gets a placeholder "<name>_copy_<n>" before it, with
// the same numbers and that tag. An AotError if the weight must not be copied: NodeMeta::no_copy,
// or a buffer that the program changes.
void duplicate_shared_constants(ExportedProgram& program, std::string_view tag);

}  // namespace vitrine::aot
