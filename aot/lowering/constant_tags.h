// Assigns weights to partitions.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

// Gives each parameter, constant and buffer the tag of its first tagged user. Skips buffers that
// the program mutates. Partitioners call this after they have tagged calls. If some users of a
// weight have another tag or no tag, lowering copies the weight for these users.
void tag_constants(ExportedProgram& program);
// Tags a mutated buffer if all its users and the call that computes its new value have the same
// tag. The buffer gets this tag, so that lowering moves the buffer into the delegate.
void tag_mutated_buffers(ExportedProgram& program);

// Sets NodeMeta::external_tag of each parameter, constant and unmutated buffer to the result of
// `file_of`: the name of the .ptd file for the weight, or "" to store the weight in the program.
// Only delegates that store weights by name, such as XNNPACK's, use this tag. Must run before
// lowering, because backends read the tag. Equivalent to ExecuTorch's
// delegate_external_constants_pass.
using FileOfWeight = std::function<std::string(const InputSpec&)>;
void tag_external_constants(ExportedProgram& program, const FileOfWeight& file_of);

// Copies each weight that has the tag `tag` if any user of the weight has another tag or no tag.
// Users with equal tags form a group; users without a tag form a group too. The first user's group
// keeps the weight, and the weight gets the group's tag. Each other group gets a copy: a new
// placeholder "<name>_copy_<n>" with the group's tag and the same data, inserted before the weight.
// Throws AotError if a weight needs a copy but must not be copied, because it is marked
// NodeMeta::no_copy or the program mutates it.
void duplicate_shared_constants(ExportedProgram& program, std::string_view tag);

}  // namespace vitrine::aot
