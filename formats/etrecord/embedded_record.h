// Keys of a program's ETRecord and its digest in the program's named data (docs/formats/program.md,
// "Records inside programs"). Other runtimes ignore these keys.
#pragma once

namespace vitrine::etrecord {

inline constexpr char kEmbeddedRecordKey[] = "vitrine.etrecord";
// Key of the record's digest, as text. A record in a separate file has the same digest
// (EtRecord::digest).
inline constexpr char kRecordDigestKey[] = "vitrine.record_digest";

}  // namespace vitrine::etrecord
