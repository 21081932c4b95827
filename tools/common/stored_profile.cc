#include "tools/common/stored_profile.h"

#include <memory>
#include <optional>
#include <vector>

#include "formats/etdump/etdump_reader.h"
#include "formats/etrecord/etrecord.h"
#include "inspector/join/make_profile.h"
#include "inspector/report/read_profile.h"
#include "tools/common/delegate_profiles.h"
#include "tools/common/file_kind.h"
#include "tools/common/files.h"
#include "tools/common/provenance.h"
#include "tools/common/tool_error.h"
#include "vitrine/data_source.h"

namespace vitrine::tools {

bool is_stored_profile(const std::filesystem::path& file) {
  const std::unique_ptr<DataSource> source = check(map_file(file.c_str()));
  const DataBuffer bytes = check(source->read(0, source->size()));
  const std::optional<FileKind> kind = find_file_kind(bytes.bytes());
  return kind == FileKind::kProfile || kind == FileKind::kTrace;
}

inspector::Profile read_stored_profile(const std::filesystem::path& file,
                                       const std::filesystem::path& etrecord,
                                       const std::string& method) {
  const std::vector<std::byte> bytes = read_file(file);
  if (find_file_kind(bytes) == FileKind::kProfile) {
    return inspector::read_profile({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                                   file.string(), all_delegate_profiles());
  }
  std::optional<etrecord::EtRecord> record;
  if (!etrecord.empty()) {
    const std::vector<std::byte> record_bytes = read_file(etrecord);
    record = etrecord::parse_etrecord(record_bytes, etrecord.string());
  }
  inspector::ProfileOptions facts;
  facts.delegates = all_delegate_profiles();
  facts.method = method;
  facts.run.model = file.filename().string();
  facts.run.tool = tool_version();
  facts.run.record = etrecord.filename().string();
  return inspector::make_profile(etdump::parse_etdump(bytes, file.string()),
                                 record ? &*record : nullptr, facts);
}

}  // namespace vitrine::tools
