// Makes pictures of programs and exported models (inspector/report/graph_picture.h).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "aot/graph/exported_program.h"
#include "aot/import/native.h"
#include "formats/etrecord/etrecord.h"
#include "inspector/join/profile.h"
#include "inspector/report/graph_picture.h"
#include "tools/pte_inspect/delegation_reasons.h"
#include "tools/pte_inspect/description.h"
#include "tools/pte_inspect/program_graph.h"

namespace vitrine::tools {

// Draws each method, and the graphs of readable payloads. `record` has the source ops, modules and
// source lines. `profile` has the times of one method. `record` and `profile` may be null.
// `reasons` says, for each method, why kernels are not delegated.
inspector::GraphPicture picture_of_program(
    const std::vector<ProgramGraph>& methods, const etrecord::EtRecord* record,
    const inspector::Profile* profile = nullptr,
    const std::map<std::string, DelegationReasons>& reasons = {});

// `reasons` says which calls XNNPACK accepts, or is null.
inspector::GraphPicture picture_of_model(const aot::ExportedProgram& model,
                                         const DelegationReasons* reasons = nullptr);
inspector::GraphPicture picture_of_methods(const aot::NativeMethods& methods);

// Draws a program, a payload or an exported model. Without `etrecord`, uses a program's own record.
// `source` is the program's exported model, or empty. Throws a HostError for other files.
inspector::GraphPicture picture_of_file(const OpenedFile& file,
                                        const std::filesystem::path& etrecord,
                                        const inspector::Profile* profile = nullptr,
                                        const std::filesystem::path& source = {});

// Returns "aten.relu.default(Tensor self) -> Tensor", or an empty text for an unknown operator.
std::string schema_text(std::string_view target);

// Shortens a text for Node::facts of a GraphPicture. Hostile files may have very long texts.
std::string short_fact(std::string text);

}  // namespace vitrine::tools
