// Reads payloads of the VGF backend, which contain modules, resources and constants for Vulkan's ML
// extensions.
#include <array>

#include "formats/delegates/flat_table.h"
#include "formats/delegates/payload_text.h"
#include "formats/delegates/vgf/spirv_graph.h"

namespace vitrine::delegates {
namespace vgf {
namespace {

constexpr std::string_view kBackends[] = {"VgfBackend"};
constexpr uint32_t kOldMagic = 0xF0E1D2C3;
constexpr size_t kHeaderBytes = 128;
constexpr uint32_t kAbsent = UINT32_MAX;
constexpr size_t kRecordBytes = 24;
constexpr std::string_view kConstantMagic{"CONST00\0", 8};

enum Section : uint8_t { kModules, kSequence, kResources, kConstants, kSections };
constexpr std::string_view kSectionNames[] = {"modules", "model sequence", "resources",
                                              "constants"};

constexpr NumberName kFormats[] = {{9, "unorm8"}, {13, "u8"},  {14, "i8"},  {75, "i16"},
                                   {76, "f16"},   {98, "u32"}, {99, "i32"}, {100, "f32"}};
constexpr NumberName kCategories[] = {
    {0, "input"}, {1, "output"}, {2, "internal"}, {3, "constant"}};

bool is_vgf(Bytes bytes) {
  return has_text_at(bytes, 0, "VGF1") ||
         (bytes.size() >= kHeaderBytes && load_little<uint32_t>(bytes.data()) == kOldMagic);
}

class VgfFile {
 public:
  explicit VgfFile(const PayloadInput& input) : input_(input) {}

  PayloadDescription read() {
    if (!is_vgf(input_.bytes)) throw FormatError("VGF header: expected \"VGF1\" at byte 0");
    const Bytes header = range_of(input_.bytes, 0, kHeaderBytes, "VGF header");
    result_.kind = "VGF";
    result_.options = options_text(input_);
    result_.version = fmt::format("{}.{}.{}", static_cast<int>(header[8]),
                                  static_cast<int>(header[9]), static_cast<int>(header[10]));
    for (size_t i = 0; i < kSections; ++i) {
      sections_[i] = range_of(input_.bytes, load_little<uint64_t>(header.data() + 16 + i * 16),
                              load_little<uint64_t>(header.data() + 24 + i * 16),
                              fmt::format("VGF {}", kSectionNames[i]));
      result_.parts.push_back({std::string(kSectionNames[i]), sections_[i].size(), ""});
    }
    read_resources();
    read_constants();
    read_modules();
    read_sequence();
    return std::move(result_);
  }

 private:
  void read_resources() {
    if (sections_[kResources].empty()) return;
    const FlatFile file(sections_[kResources], "VGF resources");
    for (const FlatTable& entry : file.root().tables(0)) {
      PayloadTensor tensor;
      tensor.dtype = name_of(kFormats, entry.number<uint32_t>(1), "Vulkan format");
      tensor.storage = "resource: " + name_of(kCategories, entry.number<uint8_t>(2), "category");
      const auto alias = entry.number<uint32_t>(6, kAbsent);
      if (alias != kAbsent) tensor.storage += fmt::format(", memory group {}", alias);
      const auto description = entry.table(3);
      tensor.has_shape = description.has_value();
      if (description) {
        for (const int64_t size : description->numbers<int64_t>(0)) {
          tensor.shape.push_back(size < 0 ? Dim{0, -1} : Dim{size, size});
        }
      }
      result_.tensors.push_back(std::move(tensor));
    }
    resources_ = result_.tensors.size();
  }

  void add_constant(uint32_t resource, int64_t sparsity, uint64_t bytes) {
    if (resource >= resources_) {
      throw FormatError(
          fmt::format("VGF constants: no resource {}; there are {}", resource, resources_));
    }
    PayloadTensor& tensor = result_.tensors[resource];
    tensor.constant = ConstantData{bytes, "payload", false};
    if (sparsity >= 0) tensor.storage += fmt::format(", sparse in dimension {}", sparsity);
  }

  void read_constants() {
    const Bytes section = sections_[kConstants];
    if (section.empty()) return;
    if (!has_text_at(section, 0, kConstantMagic)) {  // versions up to 0.3
      const FlatFile file(section, "VGF constants");
      for (const FlatTable& entry : file.root().tables(0)) {
        add_constant(entry.number<uint32_t>(0), entry.number<int64_t>(1, -1),
                     entry.bytes(2).size());
      }
      return;
    }
    const auto count = number_at<uint64_t>(section, 8, "VGF constants");
    if (count > section.size() / kRecordBytes) {
      throw FormatError(
          fmt::format("VGF constants: {} records do not fit in {} bytes", count, section.size()));
    }
    const Bytes records = range_of(section, 16, count * kRecordBytes, "VGF constants");
    const Bytes data = section.subspan(16 + records.size());
    for (size_t i = 0; i < count; ++i) {
      const std::byte* record = records.data() + i * kRecordBytes;
      const auto bytes = load_little<uint64_t>(record + 8);
      range_of(data, load_little<uint64_t>(record + 16), bytes, fmt::format("VGF constant {}", i));
      add_constant(load_little<uint32_t>(record), load_little<int32_t>(record + 4), bytes);
    }
  }

  void read_modules() {
    const FlatFile file(sections_[kModules], "VGF modules");
    for (const FlatTable& module : file.root().tables(0)) {
      const std::string name(module.text(1));
      const auto language = module.number<uint8_t>(3);
      const auto code = module.table(4);
      const Bytes words = code && language == 1 ? code->bytes_of(0, 4) : Bytes();
      if (words.empty()) {
        result_.notes.push_back(
            fmt::format("module {} has no SPIR-V code, so its operators are unknown", name));
        continue;
      }
      PayloadGraph graph = vgf::read_spirv(words, result_.tensors);
      graph.name = name;
      result_.graphs.push_back(std::move(graph));
    }
  }

  void read_sequence() {
    if (sections_[kSequence].empty()) return;
    const FlatFile file(sections_[kSequence], "VGF model sequence");
    const FlatTable root = file.root();
    const size_t segments = root.tables(0).size();
    result_.facts.push_back(fmt::format("{} segment{}", segments, segments == 1 ? "" : "s"));
    for (const size_t slot : {3, 4}) {
      const std::vector<std::string_view> names = root.texts(slot);
      if (names.empty()) continue;
      result_.facts.push_back(
          fmt::format("{} {}", slot == 3 ? "inputs" : "outputs",
                      list_text(names, [](std::string_view name) { return std::string(name); })));
    }
  }

  const PayloadInput& input_;
  PayloadDescription result_;
  std::array<Bytes, kSections> sections_;
  size_t resources_ = 0;
};

}  // namespace
}  // namespace vgf

const DelegateReader kVgfReader = {
    vgf::kBackends, "VGF", vgf::is_vgf,
    [](const PayloadInput& input) { return vgf::VgfFile(input).read(); }};

}  // namespace vitrine::delegates
