#include "host/embedded_record.h"

#include "formats/etrecord/embedded_record.h"

namespace vitrine::tools {

std::optional<etrecord::EtRecord> embedded_record(const Program& program) {
  const Result<DataBuffer> bytes = program.named_data().get(etrecord::kEmbeddedRecordKey);
  if (!bytes.ok()) return std::nullopt;
  return etrecord::parse_etrecord((*bytes).bytes(), "the program's own record");
}

}  // namespace vitrine::tools
