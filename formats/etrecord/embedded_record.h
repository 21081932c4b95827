// Where a program keeps its own record (docs/formats/program.md, "Records inside programs").
#pragma once

namespace vitrine::etrecord {

// The key of the named data. Other runtimes do not look it up.
inline constexpr char kEmbeddedRecordKey[] = "vitrine.etrecord";

}  // namespace vitrine::etrecord
