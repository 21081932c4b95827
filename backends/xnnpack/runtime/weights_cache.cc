#include "backends/xnnpack/runtime/weights_cache.h"

namespace vitrine::xnnpack {

std::shared_ptr<WeightsCache> WeightsCache::open(std::string_view path) {
  std::shared_ptr<WeightsCache> cache(new WeightsCache(path));
  if (path.empty()) return cache;
  Result<WeightsFile> file = WeightsFile::open(cache->path_.c_str());
  if (file.ok()) cache->file_ = std::move(*file);
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

Digest WeightsCache::identify_by_content(const ConstantOrigin& constant) {
  const Digest name = digest_of(constant.name);
  bool remember = false;
  {
    const std::lock_guard lock(mutex_);
    remember = knows_source(constant.stamp) && !constant.name.empty();
    if (const auto known = file_.contents.find(name); remember && known != file_.contents.end()) {
      return known->second;
    }
  }
  const Digest content = digest_of(constant.bytes);
  if (remember) {
    const std::lock_guard lock(mutex_);
    file_.contents[name] = content;
    dirty_ = true;
  }
  return content;
}

std::shared_ptr<const PackedBlock> WeightsCache::find_locked(const Digest& key) {
  const auto live = live_.find(key);
  if (live != live_.end()) {
    if (std::shared_ptr<const PackedBlock> block = live->second.lock()) return block;
  }
  const auto stored = file_.blocks.find(key);
  if (stored == file_.blocks.end()) return nullptr;
  auto block =
      std::make_shared<const PackedBlock>(PackedBlock{stored->second, DataBuffer(), file_.mapping});
  live_[key] = block;
  return block;
}

std::shared_ptr<const PackedBlock> WeightsCache::find(const Digest& key) {
  const std::lock_guard lock(mutex_);
  return find_locked(key);
}

std::shared_ptr<const PackedBlock> WeightsCache::insert(const Digest& key, DataBuffer block) {
  const std::lock_guard lock(mutex_);
  if (std::shared_ptr<const PackedBlock> there = find_locked(key)) return there;
  const std::span<const std::byte> bytes = block.bytes();
  auto made = std::make_shared<const PackedBlock>(PackedBlock{bytes, std::move(block), nullptr});
  live_[key] = made;
  dirty_ = true;
  return made;
}

Error WeightsCache::save() {
  const std::lock_guard lock(mutex_);
  std::erase_if(live_, [](const auto& entry) { return entry.second.expired(); });
  if (path_.empty() || !dirty_) return Error();
  WeightsFileContent content;
  content.source_stamp = file_.source_stamp;
  std::vector<std::shared_ptr<const PackedBlock>> kept;
  for (const auto& [key, live] : live_) {
    if (std::shared_ptr<const PackedBlock> block = live.lock()) {
      content.blocks.emplace_back(key, block->bytes);
      kept.push_back(std::move(block));
    }
  }
  for (const auto& [key, bytes] : file_.blocks) {
    if (!source_changed_ && !live_.contains(key)) content.blocks.emplace_back(key, bytes);
  }
  content.contents.assign(file_.contents.begin(), file_.contents.end());
  dirty_ = false;  // also on failure: each delegate of a method would try again
  return write_weights_file(path_.c_str(), content).in("weights cache");
}

std::shared_ptr<WeightsCache> WeightsCaches::get(std::string_view path) {
  const std::lock_guard lock(mutex_);
  std::erase_if(caches_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<WeightsCache>& shared = caches_[std::string(path)];
  if (std::shared_ptr<WeightsCache> there = shared.lock()) return there;
  std::shared_ptr<WeightsCache> opened = WeightsCache::open(path);
  shared = opened;
  return opened;
}

}  // namespace vitrine::xnnpack
