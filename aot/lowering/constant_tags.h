// Decides which partition takes which weights.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

// For partitioners, after they have tagged their calls. Tags each parameter, constant and buffer
// with the tag of its first tagged user. Lowering gives the other users a copy. Leaves out buffers
// that the program mutates.
void tag_constants(ExportedProgram& program);
// Tags each buffer that the program mutates if all its users and the call that computes its new
// value have one tag. The delegate then keeps the buffer.
void tag_mutated_buffers(ExportedProgram& program);

// Sets the .ptd that stores a weight if a delegate takes it and keeps it by name, as XNNPACK's
// delegates do; "" is the program. Calls `file_of` for each parameter, constant and buffer that the
// program does not mutate. Must run before lowering, since backends read NodeMeta::external_tag.
// ExecuTorch's delegate_external_constants_pass.
using FileOfWeight = std::function<std::string(const InputSpec&)>;
void tag_external_constants(ExportedProgram& program, const FileOfWeight& file_of);

// For lowering. A weight with this tag and with users of other tags keeps its first user's tag and
// the users that have it. For each other tag (or none), a placeholder "<name>_copy_<n>" with that
// tag and the same data is inserted before it. AotError if the weight must not be copied: it is
// marked NodeMeta::no_copy, or is a buffer that the program mutates.
void duplicate_shared_constants(ExportedProgram& program, std::string_view tag);

}  // namespace vitrine::aot
