#include "backends/xnnpack/runtime/packed_weights.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "backends/xnnpack/runtime/node_table.h"
#include "runtime/core/checked_math.h"

namespace vitrine::xnnpack {
namespace {

// The weights of smaller models would not fill a huge page.
constexpr size_t kWorthArena = size_t{2} << 20;

void add_type(Digester& digester, const Value& value) {
  digester.add(value.datatype->xnn);
  digester.add(value.scale);
  digester.add(value.zero_point);
}

void add_constant(Digester& digester, const Value& value) {
  add_type(digester, value);
  digester.add(value.content);
  digester.add(value.shape.rank);
  for (size_t i = 0; i < value.shape.rank; ++i) digester.add(value.shape[i]);
  digester.add(value.channel_dim);
  digester.add(value.block_size);
  const bool blocks = value.datatype->quantization == Quantization::kPerBlock;
  const size_t element = blocks ? sizeof(uint16_t) : sizeof(float);
  digester.add(value.scale_count);
  digester.add_bytes(std::span(value.scales, value.scale_count * element));
}

void add_window(Digester& digester, const Window& window) {
  for (const uint32_t number :
       {window.padding_top, window.padding_right, window.padding_bottom, window.padding_left,
        window.kernel_height, window.kernel_width, window.stride_height, window.stride_width,
        window.dilation_height, window.dilation_width}) {
    digester.add(number);
  }
}

// All that XNNPACK may look at when it packs the weights of `node`, which follow its input. Rather
// too much than too little. Empty if the constants cannot be identified.
Digest packing_digest(const Graph& graph, const Node& node) {
  Digester digester;
  digester.add_text(node.kind->name);
  add_type(digester, graph.values[node.inputs[0]]);
  add_type(digester, graph.values[node.outputs[0]]);
  for (const uint32_t index : node.input_values().subspan(1)) {
    const Value& value = graph.values[index];
    if (value.is_constant() && value.content.empty()) return {};
    add_constant(digester, value);
  }
  add_window(digester, node.window);
  for (const uint32_t number : {node.flags, node.group_input_channels, node.group_output_channels,
                                node.groups, node.adjustment_height, node.adjustment_width}) {
    digester.add(number);
  }
  return digester.finish();
}

}  // namespace

PackedWeights::PackedWeights(std::shared_ptr<WeightsCache> cache, Budget* memory)
    : cache_(std::move(cache)), memory_(memory) {
  // "Offsets" are addresses: blocks never move.
  provider_.context = this;
  provider_.look_up = [](void* self, const Key* key) {
    return static_cast<PackedWeights*>(self)->look_up(*key);
  };
  provider_.reserve_space = [](void* self, size_t size) {
    return static_cast<PackedWeights*>(self)->reserve(size);
  };
  provider_.look_up_or_insert = [](void* self, const Key* key, void* packed, size_t size) {
    return static_cast<PackedWeights*>(self)->insert(*key, packed, size);
  };
  provider_.is_finalized = [](void*) { return true; };
  // Offsets are addresses.
  provider_.offset_to_addr = [](void*, size_t offset) {
    return reinterpret_cast<void*>(offset);  // NOLINT(performance-no-int-to-ptr)
  };
  provider_.delete_cache = [](void*) { return xnn_status_success; };
}

PackedWeights::~PackedWeights() {
  if (memory_ != nullptr) memory_->give_back(taken_);
}

// Blocks in a file are mapped: few are made here.
void PackedWeights::plan_arena(const Graph& graph) {
  if (cache_ && !cache_->path().empty()) return;
  size_t bytes = 0;
  for (const Value& value : graph.values) {
    if (!value.is_constant() || !value.used) continue;
    const std::optional<size_t> size = tensor_bytes(*value.datatype, value.shape);
    if (!size || add_overflows(bytes, *size, &bytes)) return;
    ++constants_;
  }
  if (memory_ != nullptr) bytes = static_cast<size_t>(std::min<uint64_t>(bytes, memory_->left()));
  if (bytes >= kWorthArena) arena_bytes_ = bytes;
}

Error PackedWeights::identify(const Graph& graph) {
  plan_arena(graph);
  if (!cache_) return Error();
  for (const Node& node : graph.nodes) {
    if (!node.live || node.input_count < 2) continue;
    const Value& filter = graph.values[node.inputs[1]];
    if (!filter.is_constant()) continue;
    VITRINE_RETURN_IF_ERROR(packings_.push_back({filter.data, packing_digest(graph, node)}));
  }
  std::ranges::sort(packings_, std::less<>(), &Packing::filter);
  // XNNPACK names a block by its filter only: two ways to pack one filter cannot be told apart.
  for (size_t i = 1; i < packings_.size(); ++i) {
    const Packing& before = packings_[i - 1];
    Packing& next = packings_[i];
    if (next.filter == before.filter && next.digest != before.digest) next.digest = {};
  }
  return Error();
}

// The last packing of a filter is known by all that come before it.
Digest PackedWeights::cache_key(const Key& key) const {
  const auto known =
      std::ranges::upper_bound(packings_, key.kernel, std::less<>(), &Packing::filter);
  if (known == packings_.begin()) return {};
  const Packing& packing = *std::prev(known);
  if (packing.filter != key.kernel || packing.digest.empty()) return {};
  Digester digester;
  digester.add(packing.digest);
  digester.add(key.seed);
  return digester.finish();
}

size_t PackedWeights::use(std::shared_ptr<const PackedBlock> block) {
  const auto address = reinterpret_cast<size_t>(block->bytes.data());
  // Blocks that are looked up again are held again: they are counted once (DelegateMemory).
  if (!used_.empty() && used_.back() == block) return address;
  if (used_.push_back(std::move(block)).ok()) return address;
  is_complete_ = false;
  return SIZE_MAX;
}

size_t PackedWeights::look_up(const Key& key) {
  const Digest digest = cache_key(key);
  if (digest.empty()) return SIZE_MAX;
  std::shared_ptr<const PackedBlock> block = cache_->find(digest);
  return block ? use(std::move(block)) : SIZE_MAX;
}

// Null without memory.
void* PackedWeights::take(size_t size) {
  std::shared_ptr<PackedArena> arena = arena_;
  void* block = arena ? arena->take(size) : nullptr;
  if (block == nullptr) {
    arena = PackedArena::make(size, 1);
    block = arena ? arena->take(size) : nullptr;
  }
  if (block == nullptr) return nullptr;
  const std::span<const std::byte> bytes(static_cast<const std::byte*>(block), size);
  return reserved_.push_back({bytes, std::move(arena)}).ok() ? block : nullptr;
}

void* PackedWeights::reserve(size_t size) {
  if (memory_ != nullptr && !memory_->take(size)) return nullptr;
  taken_ += size;
  if (arena_bytes_ != 0) arena_ = PackedArena::make(std::exchange(arena_bytes_, 0), constants_);
  return take(size);
}

size_t PackedWeights::insert(const Key& key, void* packed, size_t) {
  const auto reserved = std::ranges::find(reserved_, packed, [](const Reserved& candidate) {
    return static_cast<const void*>(candidate.bytes.data());
  });
  // Convolutions ask for what they have looked up once more, with nothing to insert.
  if (reserved == reserved_.end()) {
    const size_t known = look_up(key);
    is_complete_ = is_complete_ && known != SIZE_MAX;
    return known;
  }
  const Reserved made = std::move(*reserved);
  reserved_.erase_if([](const Reserved& left) { return left.arena == nullptr; });
  const Digest digest = cache_key(key);
  std::shared_ptr<const PackedBlock> block = digest.empty()
                                                 ? make_block(made.bytes, made.arena, nullptr)
                                                 : cache_->insert(digest, made.bytes, made.arena);
  if (block && block->bytes.data() != packed) made.arena->give_back(packed);
  if (block) return use(std::move(block));
  is_complete_ = false;
  return SIZE_MAX;
}

void PackedWeights::report_memory(DelegateMemory& report) const {
  for (const std::shared_ptr<const PackedBlock>& block : used_) {
    report.add(block->mapping ? DelegateMemory::Kind::kMappedWeights
                              : DelegateMemory::Kind::kPackedWeights,
               block.get(), block->bytes.size());
  }
}

}  // namespace vitrine::xnnpack
