// Assigns weights to partitions.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

// Gives each weight the tag of its first tagged user. Skips buffers that the program mutates.
// Partitioners call this after they have tagged calls. Lowering copies the weight for users with
// another tag or no tag.
void tag_constants(ExportedProgram& program);
// Tags each mutated buffer whose users and new value all have the same tag. Lowering then moves the
// buffer into the delegate.
void tag_mutated_buffers(ExportedProgram& program);

// Sets NodeMeta::external_tag of each unmutated weight to file_of(weight): the name of a .ptd file,
// or "" to store the weight in the program. Only delegates that store weights by name, such as
// XNNPACK's, use this tag. Must run before lowering. Equivalent to ExecuTorch's
// delegate_external_constants_pass.
using FileOfWeight = std::function<std::string(const InputSpec&)>;
void tag_external_constants(ExportedProgram& program, const FileOfWeight& file_of);

// Copies each weight that has the tag `tag` if any user has another tag or no tag. Users with equal
// tags form a group; users without a tag form a group, too. The first user's group keeps the
// weight, which gets the group's tag. Each other group gets a copy with the group's tag: a new
// placeholder "<name>_copy_<n>" before the weight. Throws AotError if the weight must not be
// copied, because it is mutated or marked NodeMeta::no_copy.
void duplicate_shared_constants(ExportedProgram& program, std::string_view tag);

}  // namespace vitrine::aot
