#include "backends/xnnpack/runtime/weights/packed_weights.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "runtime/core/checked_math.h"
#include "runtime/core/sort.h"
#include "runtime/platform/memory.h"

namespace vitrine::xnnpack {
namespace {

// Smaller weights would not fill a huge page.
constexpr size_t kMinArenaBytes = platform::kHugePage;

// Returns the key of the block that a Vitrine kernel makes from `filter` in this layout.
xnn_weights_cache_look_up_key own_key(const void* filter, uint32_t layout) {
  xnn_weights_cache_look_up_key key = {};  // some versions of XNNPACK have more members
  key.seed = layout;
  key.kernel = filter;
  return key;
}

}  // namespace

PackedWeights::PackedWeights(std::shared_ptr<WeightsCache> cache, Budget* memory)
    : cache_(std::move(cache)), memory_(memory) {
  // XNNPACK identifies a block by its offset in a cache. This provider uses the block's address as
  // the offset, because blocks never move.
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
  provider_.offset_to_addr = [](void*, size_t offset) {
    return reinterpret_cast<void*>(offset);  // NOLINT(performance-no-int-to-ptr)
  };
  provider_.delete_cache = [](void*) { return xnn_status_success; };
}

PackedWeights::~PackedWeights() {
  if (memory_ != nullptr) memory_->give_back(taken_);
}

// If the cache has a file, most blocks are mapped from the file and do not need an arena.
void PackedWeights::plan_arena(const Graph& graph, size_t own_bytes) {
  if (cache_ && !cache_->path().empty()) return;
  size_t bytes = own_bytes;
  for (const Value& value : graph.values) {
    if (!value.is_constant() || !value.used) continue;
    const std::optional<size_t> size = tensor_bytes(*value.datatype, value.shape);
    if (!size || add_overflows(bytes, *size, &bytes)) return;
    ++num_constants_;
  }
  if (memory_ != nullptr) bytes = static_cast<size_t>(std::min<uint64_t>(bytes, memory_->left()));
  if (bytes >= kMinArenaBytes) arena_bytes_ = bytes;
}

Error PackedWeights::identify(const Graph& graph, size_t own_bytes) {
  plan_arena(graph, own_bytes);
  for (const Node& node : graph.nodes) {
    if (!node.live || node.weights == Node::Weights::kPacked) continue;
    VITRINE_RETURN_IF_ERROR(unpacked_.push_back(graph.values[node.inputs[1]].data));
  }
  sort(std::span(unpacked_.data(), unpacked_.size()), std::less<>());
  if (!cache_) return Error();
  for (const Node& node : graph.nodes) {
    if (!node.live || node.input_count < 2) continue;
    const Value& filter = graph.values[node.inputs[1]];
    if (!filter.is_constant()) continue;
    VITRINE_RETURN_IF_ERROR(
        packings_.push_back({filter.data, packing_of(graph, node, cache_->secret())}));
  }
  std::ranges::sort(packings_, std::less<>(), &PackedFilter::filter);
  // XNNPACK's key of a block names the filter, but not the node. If nodes pack a filter in
  // different ways, the cache does not share the blocks of this filter.
  for (size_t i = 1; i < packings_.size(); ++i) {
    const PackedFilter& before = packings_[i - 1];
    PackedFilter& next = packings_[i];
    if (next.filter == before.filter && next.packing != before.packing) next.packing.digest = {};
  }
  return Error();
}

bool PackedWeights::is_unpacked(const void* filter) const {
  return std::ranges::binary_search(unpacked_, filter, std::less<>());
}

// If nodes pack a filter in different ways, identify() clears the digest of the filter's last
// entry. This function therefore reads the last entry.
Packing PackedWeights::packing(const Key& key) const {
  const auto known =
      std::ranges::upper_bound(packings_, key.kernel, std::less<>(), &PackedFilter::filter);
  if (known == packings_.begin()) return {};
  const PackedFilter& last = *std::prev(known);
  if (last.filter != key.kernel) return {};
  return packing_for_kernel(last.packing, key.seed, cache_->secret());
}

size_t PackedWeights::use(std::shared_ptr<const PackedBlock> block) {
  const auto address = reinterpret_cast<size_t>(block->bytes.data());
  // used_ may contain a block more than once; DelegateMemory counts each block once.
  if (!used_.empty() && used_.back() == block) return address;
  if (used_.push_back(std::move(block)).ok()) return address;
  is_complete_ = false;
  return SIZE_MAX;
}

size_t PackedWeights::look_up(const Key& key) {
  if (is_unpacked(key.kernel)) return reinterpret_cast<size_t>(key.kernel);
  const Packing wanted = packing(key);
  if (wanted.digest.empty()) return SIZE_MAX;
  std::shared_ptr<const PackedBlock> block = cache_->find(wanted);
  return block ? use(std::move(block)) : SIZE_MAX;
}

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
  if (arena_bytes_ != 0) arena_ = PackedArena::make(std::exchange(arena_bytes_, 0), num_constants_);
  return take(size);
}

size_t PackedWeights::insert(const Key& key, void* packed, size_t) {
  const auto reserved = std::ranges::find(reserved_, packed, [](const Reserved& candidate) {
    return static_cast<const void*>(candidate.bytes.data());
  });
  // Convolutions call this function even for blocks that look_up() has found.
  if (reserved == reserved_.end()) {
    const size_t known = look_up(key);
    is_complete_ = is_complete_ && known != SIZE_MAX;
    return known;
  }
  const Reserved made = std::move(*reserved);
  reserved_.erase_if([](const Reserved& left) { return left.arena == nullptr; });
  const Packing how = packing(key);
  std::shared_ptr<const PackedBlock> block =
      how.digest.empty() ? make_block({how.geometry, made.bytes, made.arena, nullptr})
                         : cache_->insert(how, made.bytes, made.arena);
  if (block && block->bytes.data() != packed) made.arena->give_back(packed);
  if (block) return use(std::move(block));
  is_complete_ = false;
  return SIZE_MAX;
}

const std::byte* PackedWeights::find_own(const void* filter, uint32_t layout, size_t bytes) {
  const Packing wanted = packing(own_key(filter, layout));
  if (wanted.digest.empty()) return nullptr;
  std::shared_ptr<const PackedBlock> block = cache_->find(wanted);
  if (!block || block->bytes.size() != bytes) return nullptr;
  const std::byte* const address = block->bytes.data();
  return use(std::move(block)) != SIZE_MAX ? address : nullptr;
}

const std::byte* PackedWeights::insert_own(const void* filter, uint32_t layout, std::byte* block) {
  const size_t made = insert(own_key(filter, layout), block, 0);
  return made == SIZE_MAX
             ? nullptr
             : reinterpret_cast<const std::byte*>(made);  // NOLINT(performance-no-int-to-ptr)
}

void PackedWeights::report_memory(DelegateMemory& report) const {
  for (const std::shared_ptr<const PackedBlock>& block : used_) {
    report.add(block->mapping ? DelegateMemory::Kind::kMappedWeights
                              : DelegateMemory::Kind::kPackedWeights,
               block.get(), block->bytes.size());
  }
}

}  // namespace vitrine::xnnpack
