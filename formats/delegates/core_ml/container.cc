#include "formats/delegates/core_ml/container.h"

#include <algorithm>

#include "base/json.h"
#include "formats/delegates/payload_text.h"

namespace vitrine::delegates::core_ml {
namespace {

constexpr size_t kMaxIndexBytes = size_t{10} << 20;
constexpr size_t kMaxFiles = 4096;
constexpr size_t kMaxDepth = 32;
constexpr size_t kRecordBytes = 64;
constexpr uint32_t kSentinel = 0xDEADBEEF;

constexpr NumberName kWeightDtypes[] = {
    {1, "f16"}, {2, "f32"},  {3, "u8"},   {4, "i8"},        {5, "bf16"},   {6, "i16"},
    {7, "u16"}, {8, "i4"},   {9, "u1"},   {10, "u2"},       {11, "u4"},    {12, "u3"},
    {13, "u6"}, {14, "i32"}, {15, "u32"}, {16, "f8e4m3fn"}, {17, "f8e5m2"}};

Bytes without_padding(Bytes payload) {
  while (!payload.empty() && (payload.back() == std::byte{} || payload.back() == std::byte{' '} ||
                              payload.back() == std::byte{'\n'})) {
    payload = payload.first(payload.size() - 1);
  }
  return payload;
}

// Returns the JSON at the end of the payload, whose characters are in reverse order.
std::string reversed_json(Bytes payload) {
  const std::string_view text = text_of(without_padding(payload));
  if (!text.ends_with('{')) {
    throw FormatError(
        "Core ML container: expected '{' as the last character: the payload must end with "
        "the JSON of the file index, with its characters in reverse order");
  }
  std::string json;
  size_t depth = 0;
  bool quoted = false, escaped = false;
  for (size_t i = text.size(); i-- > 0 && json.size() < kMaxIndexBytes;) {
    const char c = text[i];
    json += c;
    if (escaped) {
      escaped = false;
    } else if (quoted) {
      escaped = c == '\\';
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return json;
    }
  }
  throw FormatError("Core ML container: the index of files does not end within 10 MiB");
}

class IndexReader {
 public:
  IndexReader(Bytes payload, std::string json)
      : payload_(payload), document_(std::move(json), "Core ML container index", kMaxDepth) {}

  std::vector<PackedFile> read() {
    const JsonValue nodes = document_.root().at("nodes");
    nodes.each_item([&](JsonValue node) { nodes_.push_back(node); });
    if (nodes_.empty() || nodes_.size() > kMaxFiles) {
      nodes.fail(fmt::format("has {} files: expected 1 to {}", nodes_.size(), kMaxFiles));
    }
    used_.resize(nodes_.size());
    add(nodes_.size() - 1, "", 0);
    return std::move(files_);
  }

 private:
  void add(size_t index, const std::string& path, size_t depth) {
    const JsonValue node = nodes_[index];
    if (used_[index]) node.fail("is in two folders");
    if (depth > kMaxDepth) node.fail("is nested in more than 32 folders");
    used_[index] = true;
    if (node.at("kind").integer() == 0) {
      const JsonValue region = node.at("dataRegion");
      const auto offset = region.at("offset").integer<uint64_t>();
      const auto size = region.at("size").integer<uint64_t>();
      files_.push_back({path, range_of(payload_, offset, size, "Core ML container: " + path)});
      return;
    }
    if (!node.holds("children")) return;
    node.at("children").each_member([&](const std::string& name, JsonValue child) {
      const auto position = child.integer<size_t>();
      if (position >= index) child.fail("is not the index of an earlier node");
      if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos ||
          name.find('\0') != std::string::npos) {
        child.fail("has a name that is not a valid file name");
      }
      add(position, path.empty() ? name : path + "/" + name, depth + 1);
    });
  }

  Bytes payload_;
  JsonDocument document_;
  std::vector<JsonValue> nodes_;
  std::vector<bool> used_;
  std::vector<PackedFile> files_;
};

}  // namespace

std::vector<PackedFile> read_container(Bytes payload) {
  return IndexReader(payload, reversed_json(payload)).read();
}

bool may_be_container(Bytes payload) {
  return text_of(without_padding(payload)).ends_with(":\"sedon\"{") ||
         text_of(without_padding(payload)).ends_with("\"sedon\"{");
}

const PackedFile* find_file(const std::vector<PackedFile>& files, std::string_view suffix) {
  const auto found = std::ranges::find_if(files, [&](const PackedFile& file) {
    return file.path == suffix ||
           (file.path.size() > suffix.size() && file.path.ends_with(suffix) &&
            file.path[file.path.size() - suffix.size() - 1] == '/');
  });
  return found == files.end() ? nullptr : &*found;
}

WeightBlob read_weight(Bytes file, uint64_t offset) {
  const Bytes record = range_of(file, offset, kRecordBytes, "weight.bin: record");
  const auto sentinel = load_little<uint32_t>(record.data());
  if (sentinel != kSentinel) {
    throw FormatError(fmt::format(
        "weight.bin: expected the marker deadbeef at byte {}, found {:08x}", offset, sentinel));
  }
  const auto number = load_little<uint32_t>(record.data() + 4);
  const auto bytes = load_little<uint64_t>(record.data() + 8);
  range_of(file, load_little<uint64_t>(record.data() + 16), bytes, "weight.bin: data");
  const auto* known = std::ranges::find(kWeightDtypes, int64_t{number}, &NumberName::number);
  return {known == std::end(kWeightDtypes) ? std::string_view() : known->name, bytes};
}

}  // namespace vitrine::delegates::core_ml
