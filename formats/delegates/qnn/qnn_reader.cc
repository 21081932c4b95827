// Reads payloads and compile options of the QNN backend. A payload consists of a small header and a
// context binary in an undocumented format.
#include <set>

#include "formats/delegates/flat_table.h"
#include "formats/delegates/payload_text.h"

namespace vitrine::delegates {
namespace qnn {
namespace {

constexpr std::string_view kBackends[] = {"QnnBackend"};
constexpr uint32_t kMagic = 0x5678ABCD;
constexpr size_t kHeaderBytes = 256;
constexpr size_t kMaxNames = 4096;
constexpr size_t kMaxNameBytes = 256;

constexpr NumberName kBackendTypes[] = {
    {0, "undefined"}, {1, "GPU"}, {2, "HTP"}, {3, "DSP"}, {4, "LPAI"}};
constexpr NumberName kProfileLevels[] = {{0, "off"}, {1, "basic"}, {2, "detailed"}, {3, "optrace"}};
constexpr NumberName kPerformance[] = {{0, "default"},
                                       {1, "sustained_high"},
                                       {2, "burst"},
                                       {3, "high"},
                                       {4, "power_saver"},
                                       {5, "low_power_saver"},
                                       {6, "high_power_saver"},
                                       {7, "low_balanced"},
                                       {8, "balanced"}};
constexpr NumberName kGpuPrecisions[] = {{0, "fp32"}, {1, "fp16"}, {2, "hybrid"}, {3, "user"}};
constexpr NumberName kSocs[] = {
    {30, "SM8350"},   {36, "SM8450"},   {39, "SA8295"},   {42, "SM8475"},   {43, "SM8550"},
    {45, "SXR1230P"}, {46, "SSG2115P"}, {52, "SA8255"},   {53, "SXR2230P"}, {57, "SM8650"},
    {58, "SSG2125P"}, {69, "SM8750"},   {72, "SA8797"},   {75, "SXR2330P"}, {77, "QCS9100"},
    {87, "SM8850"},   {93, "QCM6490"},  {95, "SAR2230P"}, {96, "SW6100"},   {97, "SM8845"}};

// Slots and names of the bool options.
constexpr NumberName kFlags[] = {{4, "online_prepare"},
                                 {5, "dump_intermediate_outputs"},
                                 {7, "shared_buffer"},
                                 {8, "is_from_context_binary"},
                                 {12, "use_mha2sha"}};
constexpr NumberName kHtpFlags[] = {{4, "use_conv_hmx"},       {5, "use_dlbc"},
                                    {6, "use_fold_relu"},      {7, "use_multi_contexts"},
                                    {8, "use_weight_sharing"}, {9, "use_slc_allocator"}};

void add_flags(const FlatTable& table, std::span<const NumberName> flags,
               std::vector<PayloadArgument>& options) {
  for (const NumberName& flag : flags) {
    if (table.flag(static_cast<size_t>(flag.number))) {
      options.push_back({std::string(flag.name), "true"});
    }
  }
}

// Adds the options in the compile spec to `options`. Returns the name of the system on a chip.
std::string read_options(Bytes spec, std::vector<PayloadArgument>& options) {
  const FlatFile file(spec, "qnn_compile_spec");
  const FlatTable root = file.root();
  std::string soc;
  if (const auto info = root.table(0)) {
    soc = name_of(kSocs, info->number<int32_t>(0), "SoC");
    options.push_back({"soc", soc});
    if (const auto htp = info->table(1)) {
      options.push_back({"htp_arch", fmt::format("V{}", htp->number<int32_t>(0))});
      options.push_back({"vtcm", fmt::format("{} MB", htp->number<uint32_t>(1))});
    }
  }
  if (const auto backend = root.table(1)) {
    options.push_back({"backend", name_of(kBackendTypes, backend->number<int32_t>(0), "backend")});
    if (const auto htp = backend->table(1)) {
      options.push_back({"performance", name_of(kPerformance, htp->number<int32_t>(1), "mode")});
      options.push_back({"precision", htp->number<int32_t>(2) == 0 ? "quantized" : "fp16"});
      add_flags(*htp, kHtpFlags, options);
    }
    if (const auto gpu = backend->table(2)) {
      options.push_back(
          {"precision", name_of(kGpuPrecisions, gpu->number<int32_t>(1), "precision")});
    }
  }
  options.push_back({"profile_level", name_of(kProfileLevels, root.number<int32_t>(6), "level")});
  add_flags(root, kFlags, options);
  if (const auto packages = root.table(11)) {
    for (const FlatTable& package : packages->tables(0)) {
      options.push_back({"op_package", std::string(package.text(0).substr(0, kMaxNameBytes))});
    }
  }
  return soc;
}

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '@' || c == '.' || c == '-';
}

// True for names such as "input_0_x@0", which the exporter assigns to inputs and outputs.
bool is_argument_name(std::string_view text) {
  const size_t at = text.rfind('@');
  const bool is_numbered = at != std::string_view::npos && at + 1 < text.size() &&
                           text.find_first_not_of("0123456789", at + 1) == std::string_view::npos;
  return is_numbered && (text.starts_with("input_") || text.starts_with("output_"));
}

// Collects the names of inputs and outputs among the readable strings in the context binary.
std::vector<std::string> find_names(Bytes context) {
  const std::string_view text = text_of(context);
  std::set<std::string_view> seen;
  std::vector<std::string> names;
  for (size_t i = 0; i < text.size() && names.size() < kMaxNames;) {
    size_t end = i;
    while (end < text.size() && is_name_char(text[end])) ++end;
    const std::string_view word = text.substr(i, end - i);
    if (word.size() <= kMaxNameBytes && is_argument_name(word) && seen.insert(word).second) {
      names.emplace_back(word);
    }
    i = end + 1;
  }
  return names;
}

PayloadDescription read_qnn(const PayloadInput& input) {
  PayloadDescription result;
  std::string soc;
  for (const CompileOption& option : input.options) {
    if (option.key != "qnn_compile_spec") continue;
    soc = read_options(option.value, result.options);
  }
  const std::string target = soc.empty() ? "" : ", for " + soc;
  if (input.bytes.size() < 4 || load_little<uint32_t>(input.bytes.data()) != kMagic) {
    result.kind = "QNN archive for compilation on the device";
    result.closed =
        fmt::format("closed format of Qualcomm ({} bytes{})", input.bytes.size(), target);
    return result;
  }
  result.kind = "QNN context binary";
  const auto bytes = number_at<uint64_t>(input.bytes, 12, "QNN header");
  const Bytes context = range_of(input.bytes, kHeaderBytes, bytes, "QNN context");
  result.facts.push_back(
      fmt::format("signature {:016x}", number_at<uint64_t>(input.bytes, 4, "QNN")));
  const std::vector<std::string> names = find_names(context);
  if (!names.empty()) {
    result.facts.push_back(
        fmt::format("readable strings: {} names of inputs and outputs {}", names.size(),
                    list_text(names, [](const std::string& name) { return name; })));
  }
  result.closed = fmt::format(
      "closed format of Qualcomm ({} bytes{}); only traces and the ETRecord name the operations",
      bytes, target);
  return result;
}

}  // namespace
}  // namespace qnn

const DelegateReader kQnnReader = {qnn::kBackends, "QNN delegate payload",
                                   [](std::span<const std::byte> bytes) {
                                     return bytes.size() >= qnn::kHeaderBytes &&
                                            load_little<uint32_t>(bytes.data()) == qnn::kMagic;
                                   },
                                   qnn::read_qnn};

}  // namespace vitrine::delegates
