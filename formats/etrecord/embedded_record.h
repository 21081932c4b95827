// Defines the keys under which a program's named data store the program's ETRecord and the digest
// of the record (docs/formats/program.md, "Records inside programs"). Other runtimes ignore these
// keys.
#pragma once

namespace vitrine::etrecord {

// Key of the record's bytes.
inline constexpr char kEmbeddedRecordKey[] = "vitrine.etrecord";
// Key of the record's digest, as text. A record in a separate file has the same digest
// (EtRecord::digest).
inline constexpr char kRecordDigestKey[] = "vitrine.record_digest";

}  // namespace vitrine::etrecord
