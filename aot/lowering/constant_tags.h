// Assigns weights to partitions.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

// Gives each parameter, constant and buffer the tag of its first tagged user. Skips buffers that
// the program mutates. Partitioners call this after they have tagged calls. If other users have
// other tags, lowering copies the weight for them.
void tag_constants(ExportedProgram& program);
// Tags each mutated buffer for which all users and the call that computes the new value have the
// same tag. The tagged buffers move into the delegate.
void tag_mutated_buffers(ExportedProgram& program);

// Sets NodeMeta::external_tag of each parameter, constant and unmutated buffer to the result of
// `file_of`: the name of the .ptd file for the weight, or "" to store the weight in the program.
// Only delegates that store weights by name, such as XNNPACK's, use this tag. Must run before
// lowering, because backends read the tag. Equivalent to ExecuTorch's
// delegate_external_constants_pass.
using FileOfWeight = std::function<std::string(const InputSpec&)>;
void tag_external_constants(ExportedProgram& program, const FileOfWeight& file_of);

// Copies each weight that has the tag `tag` and a user with another tag or no tag. The weight gets
// the tag of its first user and stays the input of all users with that tag. Each other group of
// users with the same tag (or no tag) gets a copy: a new placeholder "<name>_copy_<n>" with the
// group's tag and the same data, inserted before the weight. Throws AotError if the weight must not
// be copied: it is marked NodeMeta::no_copy, or it is a buffer that the program mutates.
void duplicate_shared_constants(ExportedProgram& program, std::string_view tag);

}  // namespace vitrine::aot
