#include "backends/xnnpack/runtime/weights/weights_cache.h"

#include "runtime/core/share.h"
#include "runtime/platform/random.h"

namespace vitrine::xnnpack {

namespace {

// Copies a path and appends a zero byte. An empty path stays empty.
Error copy_path(std::string_view from, CheckedVector<char>& to) {
  if (from.empty()) return Error();
  VITRINE_RETURN_IF_ERROR(to.append(from));
  return to.push_back('\0');
}

bool is_gone(const std::weak_ptr<const PackedBlock>& block) { return block.expired(); }

}  // namespace

std::shared_ptr<WeightsCache> WeightsCache::open(std::string_view path) {
  std::shared_ptr<WeightsCache> cache =
      share(std::unique_ptr<WeightsCache>(new (std::nothrow) WeightsCache));
  if (!cache || !copy_path(path, cache->path_).ok()) return nullptr;
  platform::fill_random(cache->file_.secret);
  if (path.empty()) return cache;
  Result<WeightsFile> file = WeightsFile::open(cache->path_.data());
  if (file.ok()) {
    cache->file_ = std::move(*file);
  } else if (file.error().code() == ErrorCode::kMemoryAllocationFailed) {
    return nullptr;
  }
  return cache;
}

Digest WeightsCache::identify(const ConstantOrigin& constant) {
  if (!path_.empty()) return identify_by_content(constant);
  if (!constant.outlives_delegate) return {};
  return {reinterpret_cast<uintptr_t>(constant.bytes.data()), constant.bytes.size()};
}

bool WeightsCache::knows_source(uint64_t stamp) {
  if (stamp != 0 && stamp == file_.source_stamp) return true;
  source_changed_ = true;
  if (stamp == 0) return false;
  file_.source_stamp = stamp;
  file_.contents.clear();
  return true;
}

Digest WeightsCache::recall(const ConstantOrigin& constant) {
  const std::lock_guard lock(mutex_);
  if (!knows_source(constant.stamp) || constant.name.empty()) return {};
  const Digest* known = file_.contents.find(digest_of(constant.name, secret()));
  return known != nullptr ? *known : Digest();
}

void WeightsCache::remember(const ConstantOrigin& constant, const Digest& content) {
  if (constant.stamp == 0 || constant.name.empty()) return;
  const std::lock_guard lock(mutex_);
  // The load of a different program may have changed file_.source_stamp since recall(). Then
  // `content` does not belong in the file.
  if (file_.source_stamp == constant.stamp &&
      file_.contents.insert(digest_of(constant.name, secret()), content).ok()) {
    dirty_ = true;
  }
}

Digest WeightsCache::identify_by_content(const ConstantOrigin& constant) {
  if (const Digest known = recall(constant); !known.empty()) return known;
  const Digest content = digest_of(constant.bytes, secret());
  remember(constant, content);
  return content;
}

std::shared_ptr<const PackedBlock> WeightsCache::find_locked(const Packing& packing) {
  if (const auto* live = live_.find(packing.digest)) {
    if (std::shared_ptr<const PackedBlock> block = live->lock()) {
      return block->geometry == packing.geometry ? block : nullptr;
    }
  }
  const StoredBlock* stored = file_.blocks.find(packing.digest);
  if (stored == nullptr || stored->geometry != packing.geometry) return nullptr;
  std::shared_ptr<const PackedBlock> block =
      make_block({stored->geometry, stored->bytes, nullptr, file_.mapping});
  return block && live_.insert(packing.digest, block, is_gone).ok() ? block : nullptr;
}

std::shared_ptr<const PackedBlock> WeightsCache::find(const Packing& packing) {
  const std::lock_guard lock(mutex_);
  return find_locked(packing);
}

std::shared_ptr<const PackedBlock> WeightsCache::insert(const Packing& packing,
                                                        std::span<const std::byte> bytes,
                                                        std::shared_ptr<const PackedArena> arena) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const PackedBlock> present = find_locked(packing);
  if (present && present->bytes.size() == bytes.size()) return present;
  std::shared_ptr<const PackedBlock> made =
      make_block({packing.geometry, bytes, std::move(arena), nullptr});
  if (!made) return nullptr;
  if (const auto* other = live_.find(packing.digest); other != nullptr && !other->expired()) {
    return made;
  }
  if (!live_.insert(packing.digest, made, is_gone).ok()) return nullptr;
  dirty_ = true;
  return made;
}

Error WeightsCache::save() {
  const std::lock_guard lock(mutex_);
  if (path_.empty() || !dirty_) return Error();
  WeightsFileContent content;
  content.secret = secret();
  content.source_stamp = file_.source_stamp;
  CheckedVector<std::shared_ptr<const PackedBlock>> kept;
  for (const auto& [key, live] : live_.slots()) {
    std::shared_ptr<const PackedBlock> block = live.lock();
    if (!block) continue;
    VITRINE_RETURN_IF_ERROR(content.blocks.push_back({key, {block->geometry, block->bytes}}));
    VITRINE_RETURN_IF_ERROR(kept.push_back(std::move(block)));
  }
  for (const auto& [key, stored] : file_.blocks.slots()) {
    const auto* live = live_.find(key);
    if (key.empty() || source_changed_ || (live != nullptr && !live->expired())) continue;
    VITRINE_RETURN_IF_ERROR(content.blocks.push_back({key, stored}));
  }
  for (const auto& [name, digest] : file_.contents.slots()) {
    if (!name.empty()) VITRINE_RETURN_IF_ERROR(content.contents.push_back({name, digest}));
  }
  dirty_ = false;  // also after a failure; otherwise each delegate of a method would try again
  return write_weights_file(path_.data(), content).in("weights cache");
}

std::shared_ptr<WeightsCache> WeightsCaches::get(std::string_view path) {
  const std::lock_guard lock(mutex_);
  caches_.erase_if([](const auto& cache) { return cache.expired(); });
  for (const std::weak_ptr<WeightsCache>& each : caches_) {
    std::shared_ptr<WeightsCache> cache = each.lock();
    if (cache && cache->path() == path) return cache;
  }
  std::shared_ptr<WeightsCache> opened = WeightsCache::open(path);
  return opened && caches_.push_back(opened).ok() ? opened : nullptr;
}

}  // namespace vitrine::xnnpack
