#include "aot/import/weights_reader.h"

#include <fmt/format.h>

#include "aot/import/saved_tensors.h"
#include "aot/import/tensor_meta.h"
#include "base/json.h"

namespace vitrine::aot {
namespace {

constexpr uint64_t kMaxConfigBytes = uint64_t{64} << 20;
constexpr uint64_t kMaxRecordBytes = uint64_t{1} << 40;

int64_t static_value(const SymInt& value, const JsonValue& meta) {
  if (!value.is_static()) meta.fail("the sizes of a weight must be numbers");
  return value.value();
}

TensorData read_tensor(const ZipArchive& archive, const std::string& folder,
                       const JsonValue& payload) {
  const JsonValue path = payload.at("path_name");
  const std::string& name = path.string();
  if (name.empty() || name.find('/') != std::string::npos || name == "..") {
    path.fail(fmt::format("\"{}\" is not the name of a record", name));
  }
  const JsonValue meta = payload.at("tensor_meta");
  if (payload.at("use_pickle").boolean() || meta.is_null()) {
    payload.fail("is pickled (a tensor subclass or a custom object), which is not supported");
  }
  const TensorSpec spec = read_tensor_meta(meta);
  TensorData data;
  data.dtype = spec.dtype;
  for (const SymInt& size : spec.sizes) data.sizes.push_back(static_value(size, meta));
  for (const SymInt& stride : spec.strides) data.strides.push_back(static_value(stride, meta));
  data.storage_offset = static_value(spec.storage_offset, meta);
  data.requires_grad = spec.requires_grad;
  SharedBytes record = archive.read(folder + name, kMaxRecordBytes);
  data.storage = record.span;
  data.owner = std::move(record.owner);
  if (const std::string wrong = data.check(); !wrong.empty()) meta.fail(wrong);
  return data;
}

}  // namespace

TensorMap read_payload(const ZipArchive& archive, const std::string& folder,
                       const std::string& model, const std::string& kind) {
  const std::string saved = folder + model + ".pt";
  if (archive.has(saved)) {
    return read_saved_tensors(archive.read(saved, kMaxRecordBytes),
                              fmt::format("{}: {}", archive.source(), saved));
  }
  TensorMap tensors;
  const std::string config = fmt::format("{}{}_{}_config.json", folder, model, kind);
  if (!archive.has(config)) return tensors;
  const JsonDocument document(archive.read(config, kMaxConfigBytes).text(),
                              fmt::format("{}: {}", archive.source(), config));
  document.root().at("config").each_member([&](const std::string& name, const JsonValue& payload) {
    tensors.emplace(name, read_tensor(archive, folder, payload));
  });
  return tensors;
}

}  // namespace vitrine::aot
