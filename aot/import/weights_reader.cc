#include "aot/import/weights_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "aot/import/tensor_meta.h"
#include "base/json.h"

namespace vitrine::aot {
namespace {

constexpr uint64_t kMaxConfigBytes = uint64_t{64} << 20;
constexpr uint64_t kMaxRecordBytes = uint64_t{1} << 40;

int64_t static_value(const SymInt& value, const JsonValue& meta) {
  if (!value.is_static()) meta.fail("sizes and strides of a weight must be numbers");
  return value.value();
}

// Reads the name of a tensor's record. The name must not lead out of the folder.
const std::string& record_of(const JsonValue& payload) {
  const JsonValue path = payload.at("path_name");
  const std::string& name = path.string();
  if (name.empty() || name.find('/') != std::string::npos || name == "..") {
    path.fail(fmt::format("\"{}\" is not a valid record name", name));
  }
  return name;
}

std::vector<int64_t> sizes_of(const TensorSpec& spec, const JsonValue& meta) {
  std::vector<int64_t> sizes;
  for (const SymInt& size : spec.sizes) sizes.push_back(static_value(size, meta));
  return sizes;
}

TensorData read_tensor(const ZipArchive& archive, const std::string& folder,
                       const JsonValue& payload) {
  const std::string& name = record_of(payload);
  const JsonValue meta = payload.at("tensor_meta");
  const TensorSpec spec = read_tensor_meta(meta);
  TensorData data;
  data.dtype = spec.dtype;
  data.sizes = sizes_of(spec, meta);
  for (const SymInt& stride : spec.strides) data.strides.push_back(static_value(stride, meta));
  data.storage_offset = static_value(spec.storage_offset, meta);
  data.requires_grad = spec.requires_grad;
  SharedBytes record = archive.read(folder + name, kMaxRecordBytes);
  data.storage = record.span;
  data.owner = std::move(record.owner);
  if (const std::string error = data.check(); !error.empty()) meta.fail(error);
  return data;
}

// Reads a tensor that torch.save wrote as a pickle, such as a tensor subclass.
void read_pickled(const ZipArchive& archive, const std::string& folder, const std::string& name,
                  const JsonValue& payload, SavedWeights& weights) {
  const JsonValue meta = payload.at("tensor_meta");
  if (meta.is_null()) payload.fail("is a custom object, which is not supported");
  const std::string record = folder + record_of(payload);
  read_saved_tensor(archive.read(record, kMaxRecordBytes),
                    fmt::format("{}: {}", archive.source(), record), name, weights);
  const auto subclass = weights.subclasses.find(name);
  const std::vector<int64_t>& sizes = subclass == weights.subclasses.end()
                                          ? weights.tensors.at(name).sizes
                                          : subclass->second.sizes;
  if (sizes != sizes_of(read_tensor_meta(meta), meta)) {
    meta.fail(fmt::format("the sizes differ from those of the pickled tensor, [{}]",
                          fmt::join(sizes, ", ")));
  }
}

}  // namespace

SavedWeights read_weights(const ZipArchive& archive, const std::string& folder,
                          const std::string& model, const std::string& kind) {
  const std::string saved = folder + model + ".pt";
  if (archive.has(saved)) {
    return read_saved_tensors(archive.read(saved, kMaxRecordBytes),
                              fmt::format("{}: {}", archive.source(), saved));
  }
  SavedWeights weights;
  const std::string config = fmt::format("{}{}_{}_config.json", folder, model, kind);
  if (!archive.has(config)) return weights;
  const JsonDocument document(archive.read(config, kMaxConfigBytes).text(),
                              fmt::format("{}: {}", archive.source(), config));
  document.root().at("config").each_member([&](const std::string& name, const JsonValue& payload) {
    if (payload.at("use_pickle").boolean()) {
      read_pickled(archive, folder, name, payload, weights);
    } else if (payload.at("tensor_meta").is_null()) {
      payload.fail("is a custom object, which is not supported");
    } else {
      weights.tensors.emplace(name, read_tensor(archive, folder, payload));
    }
  });
  return weights;
}

}  // namespace vitrine::aot
