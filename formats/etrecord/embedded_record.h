// Where a program keeps its own record (docs/formats/program.md, "Records inside programs").
#pragma once

namespace vitrine::etrecord {

// The key of the named data. Other runtimes do not ask for it.
inline constexpr char kEmbeddedRecordKey[] = "vitrine.etrecord";

}  // namespace vitrine::etrecord
