// Reads payloads of the TOSA backend, which are TOSA flatbuffers. Only tests use this backend, but
// the compilers for Ethos-U and VGF start from TOSA graphs.
#include <map>

#include "formats/delegates/flat_table.h"
#include "formats/delegates/payload_text.h"
#include "formats/delegates/tosa/tosa_names.h"

namespace vitrine::delegates {
namespace tosa {
namespace {

constexpr std::string_view kBackends[] = {"TOSABackend"};
constexpr uint32_t kConst = 67;

// Names of dtypes by number, in the released schema (kDtypes) and in its drafts (kDraftDtypes).
constexpr NumberName kDtypes[] = {{1, "bool"}, {2, "i4"},  {3, "i8"},  {4, "i16"},  {5, "i32"},
                                  {6, "i48"},  {7, "f32"}, {8, "f16"}, {9, "bf16"}, {10, "shape"}};
constexpr NumberName kDraftDtypes[] = {{1, "bool"}, {2, "u8"},   {3, "i4"},    {4, "i8"},
                                       {5, "i16"},  {6, "i32"},  {7, "i48"},   {8, "f32"},
                                       {9, "u16"},  {10, "f16"}, {11, "bf16"}, {12, "shape"}};

class TosaGraph {
 public:
  explicit TosaGraph(const PayloadInput& input)
      : input_(input), file_(input.bytes, "TOSA flatbuffer") {}

  PayloadDescription read() {
    if (!file_.has_identifier("TOSA")) file_.fail("no identifier \"TOSA\" at byte 4");
    const FlatTable root = file_.root();
    result_.kind = "TOSA graph";
    result_.options = options_text(input_);
    read_version(root.table(0));
    for (const FlatTable& region : root.tables(1)) {
      for (const FlatTable& block : region.tables(1)) read_block(block, region.text(0));
    }
    result_.facts.emplace_back("attributes of operators (strides, axes) are not read");
    return std::move(result_);
  }

 private:
  void read_version(const std::optional<FlatTable>& version) {
    if (!version) return;
    is_draft_ = version->flag(3, true);
    result_.version =
        fmt::format("{}.{}.{}{}", version->number<int32_t>(0, -1), version->number<int32_t>(1, -1),
                    version->number<int32_t>(2, -1), is_draft_ ? " (draft)" : "");
  }

  void read_block(const FlatTable& block, std::string_view region) {
    names_.clear();
    for (const FlatTable& tensor : block.tables(2)) read_tensor(tensor);
    if (!is_draft_) read_shapes(block);
    PayloadGraph graph;
    graph.name = fmt::format("{}{}{}", region, block.text(0) == region ? "" : "/",
                             block.text(0) == region ? "" : block.text(0));
    for (const std::string_view name : block.texts(3)) graph.inputs.push_back(index_of(name));
    for (const std::string_view name : block.texts(4)) graph.outputs.push_back(index_of(name));
    for (const FlatTable& op : block.tables(1)) read_operator(op, graph);
    result_.graphs.push_back(std::move(graph));
  }

  void read_tensor(const FlatTable& from) {
    PayloadTensor tensor;
    tensor.name = from.text(0);
    for (const int32_t size : from.numbers<int32_t>(1)) {
      tensor.shape.push_back(size < 0 ? Dim{0, -1} : Dim{size, size});
    }
    const auto type = from.number<uint32_t>(2);
    tensor.dtype =
        is_draft_ ? name_of(kDraftDtypes, type, "dtype") : name_of(kDtypes, type, "dtype");
    if (const size_t bytes = from.bytes(3).size(); bytes != 0) {
      tensor.constant = ConstantData{bytes, "payload", false};
    }
    add(std::move(tensor));
  }

  // Adds the block's shapes as tensors. RESHAPE and other operators take shapes as operands.
  void read_shapes(const FlatTable& block) {
    for (const FlatTable& from : block.tables(5)) {
      PayloadTensor tensor;
      tensor.name = from.text(0);
      tensor.dtype = "shape";
      tensor.has_shape = false;
      if (const size_t bytes = from.bytes(2).size(); bytes != 0) {
        tensor.constant = ConstantData{bytes, "payload", false};
      }
      add(std::move(tensor));
    }
  }

  void add(PayloadTensor tensor) {
    names_[tensor.name] = result_.tensors.size();
    result_.tensors.push_back(std::move(tensor));
  }

  size_t index_of(std::string_view name) const {
    const auto found = names_.find(name);
    if (found == names_.end()) {
      file_.fail(fmt::format("the tensor {} is not in its block", name.substr(0, 200)));
    }
    return found->second;
  }

  void read_operator(const FlatTable& from, PayloadGraph& graph) {
    const auto number = from.number<uint32_t>(0);
    PayloadOperator op;
    for (const std::string_view name : from.texts(3)) {
      op.inputs.push_back(index_of(name));
      op.arguments.push_back({"", tensor_name(op.inputs.back())});
    }
    for (const std::string_view name : from.texts(4)) op.outputs.push_back(index_of(name));
    const bool is_constant = op.inputs.empty() && op.outputs.size() == 1 &&
                             result_.tensors[op.outputs[0]].constant.has_value();
    if (number == kConst || is_constant) return;  // its output is listed as a constant
    op.name = number == 0 || number >= kConst ? fmt::format("operator {}", number)
                                              : tosa::operator_name(number - 1);
    graph.operators.push_back(std::move(op));
  }

  const PayloadInput& input_;
  FlatFile file_;
  PayloadDescription result_;
  bool is_draft_ = true;
  std::map<std::string, size_t, std::less<>> names_;
};

}  // namespace
}  // namespace tosa

const DelegateReader kTosaReader = {
    tosa::kBackends, "TOSA graph",
    [](std::span<const std::byte> bytes) { return has_text_at(bytes, 4, "TOSA"); },
    [](const PayloadInput& input) { return tosa::TosaGraph(input).read(); }};

}  // namespace vitrine::delegates
