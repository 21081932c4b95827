// Names of the members of an ETRecord (docs/formats/etrecord.md).
#pragma once

#include <array>
#include <string_view>

namespace vitrine::etrecord {

inline constexpr char kIdentifier[] = "ETRECORD_V0";
inline constexpr char kExportedProgram[] = "exported_program";
inline constexpr char kEdgeProgram[] = "edge_dialect_exported_program";
inline constexpr char kHandleMap[] = "debug_handle_map";
inline constexpr char kDelegateMap[] = "delegate_map";
inline constexpr char kNumOutputsMap[] = "instruction_id_to_num_outs_map";
inline constexpr char kReferenceOutputs[] = "reference_outputs";
inline constexpr char kRepresentativeInputs[] = "representative_inputs";
inline constexpr char kExportGraphId[] = "export_graph_id";
inline constexpr char kOnlyMethod[] = "forward";  // method of a record with a single edge program

// Suffixes in the names of a program's side files.
inline constexpr char kStateDict[] = "_state_dict";
inline constexpr char kConstants[] = "_constants";
inline constexpr char kExampleInputs[] = "_example_inputs";
inline constexpr std::array<std::string_view, 3> kSideFiles = {kStateDict, kConstants,
                                                               kExampleInputs};

// Texts that the names in RecordMembers::other_programs must not contain.
inline constexpr std::array<std::string_view, 10> kReserved = {
    kIdentifier, kExportedProgram, kExportGraphId, kEdgeProgram,      "et_dialect_graph_module",
    kHandleMap,  kDelegateMap,     kNumOutputsMap, kReferenceOutputs, kRepresentativeInputs};

}  // namespace vitrine::etrecord
