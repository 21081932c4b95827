// Tests programs that use a file of packed weights.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "backends/xnnpack/runtime/execution/xnnpack_backend.h"
#include "backends/xnnpack/runtime/weights/weights_cache.h"
#include "test/support/corpus.h"
#include "test/support/file_bytes.h"
#include "test/support/scratch_folder.h"
#include "test/support/tensor_factory.h"
#include "vitrine/method.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using Kind = DelegateMemory::Kind;

struct Loaded {
  std::vector<std::byte> output;
  size_t packed = 0;  // bytes packed by this process
  size_t mapped = 0;  // bytes mapped from the file
  std::string error;
  std::string warning;
};

// Loads `model` as a separate process would, with a separate backend, and runs it once.
Loaded load(const fs::path& model, const std::string& cache) {
  Loaded result;
  const XnnpackBackend backend;
  BackendRegistry backends;
  EXPECT_TRUE(backends.add(&backend).ok());
  const BackendOption backend_options[] = {{"XnnpackBackend", "packed_cache_path", cache}};
  MethodOptions options;
  options.backends = &backends;
  if (!cache.empty()) options.backend_options = backend_options;
  auto program = Program::load(*map_file(model.c_str()));
  auto method = Method::load(std::move(*program), "forward", options);
  if (!method.ok()) {
    result.error = method.error().message();
    return result;
  }
  result.warning = (*method)->warning().message();
  const TensorInfo info = (*method)->meta().input_tensor(0);
  TensorFactory factory;
  Tensor& input = factory.make(info.dtype, {info.sizes.begin(), info.sizes.end()},
                               {info.dim_order.begin(), info.dim_order.end()});
  for (int64_t i = 0; i < input.numel(); ++i) {
    input.mutable_data<float>()[i] = static_cast<float>(i % 17) / 8 - 1;
  }
  EXPECT_TRUE((*method)->set_input(0, EValue(&input)).ok());
  const Error error = (*method)->execute();
  EXPECT_TRUE(error.ok()) << error.message();
  const Tensor& output = (*method)->output(0).unchecked_tensor();
  const auto* bytes = static_cast<const std::byte*>(output.raw_data());
  result.output.assign(bytes, bytes + output.nbytes());
  const MemoryUsage usage = (*method)->memory_usage();
  result.packed = usage.delegates.bytes(Kind::kPackedWeights);
  result.mapped = usage.delegates.bytes(Kind::kMappedWeights);
  return result;
}

void write(const fs::path& path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

class WeightsCacheTest : public testing::TestWithParam<const char*> {
 protected:
  ScratchFolder folder_;
  const fs::path model_ = samples_dir() / "mv2_025_xnnpack" / "model.pte";
  const fs::path path_ = folder_ / "weights";
};

TEST_P(WeightsCacheTest, SecondLoadMapsWeightsFromTheFile) {
  const fs::path model = samples_dir() / GetParam() / "model.pte";
  const Loaded without = load(model, "");
  ASSERT_EQ(without.error, "");
  ASSERT_GT(without.packed, 0u);
  const Loaded cold = load(model, path_);
  EXPECT_EQ(cold.mapped, 0u);
  EXPECT_EQ(cold.packed, without.packed);
  EXPECT_EQ(cold.output, without.output);
  const auto written = fs::last_write_time(path_);
  const Loaded warm = load(model, path_);
  EXPECT_EQ(warm.mapped, without.packed);
  EXPECT_EQ(warm.packed, 0u);
  EXPECT_EQ(warm.output, without.output);
  EXPECT_EQ(fs::last_write_time(path_), written);
}
INSTANTIATE_TEST_SUITE_P(Samples, WeightsCacheTest,
                         testing::Values("mv2_025_xnnpack", "digits_xnnpack", "digits_xnnpack_q8",
                                         "linear_relu"));

// Bytes of a valid file are changed, cut or added. Each time, the damage must be detected and the
// file replaced.
TEST_F(WeightsCacheTest, ReplacesADamagedFile) {
  const Loaded cold = load(model_, path_);
  const AlignedBytes good = read_file_bytes(path_);
  const size_t size = good.size();
  const std::vector<size_t> changed = {8,   12,  24,  40,  231, 232, 240, 248,  256,      264,
                                       280, 296, 312, 332, 400, 567, 568, 3000, size / 2, size - 1};
  std::vector<std::pair<std::string, std::vector<std::byte>>> damaged;
  const std::vector<std::byte> bytes(good.begin(), good.end());
  for (const size_t at : changed) {
    std::vector<std::byte>& copy = damaged.emplace_back("byte " + std::to_string(at), bytes).second;
    copy[at] ^= std::byte{0x40};
  }
  for (const size_t left : {size_t{0}, size_t{1}, size_t{311}, size_t{312}, size / 2, size - 64}) {
    damaged.emplace_back("cut to " + std::to_string(left), bytes).second.resize(left);
  }
  damaged.emplace_back("longer", bytes).second.resize(size + 64);
  for (const auto& [what, file] : damaged) {
    SCOPED_TRACE(what);
    write(path_, file);
    const Loaded rebuilt = load(model_, path_);
    EXPECT_EQ(rebuilt.error, "");
    EXPECT_EQ(rebuilt.packed, cold.packed);
    EXPECT_EQ(rebuilt.output, cold.output);
    const Loaded warm = load(model_, path_);
    EXPECT_EQ(warm.mapped, cold.packed);
    EXPECT_EQ(warm.output, cold.output);
  }
}

TEST_F(WeightsCacheTest, ReplacesAFileOfADifferentVersion) {
  const Loaded cold = load(model_, path_);
  AlignedBytes bytes = read_file_bytes(path_);
  constexpr size_t kVersion = 8;
  ASSERT_EQ(bytes[kVersion], std::byte{3});
  bytes[kVersion] = std::byte{2};
  write(path_, bytes);
  EXPECT_EQ(load(model_, path_).packed, cold.packed);
  EXPECT_EQ(read_file_bytes(path_)[kVersion], std::byte{3});
  EXPECT_EQ(load(model_, path_).mapped, cold.packed);
}

TEST_F(WeightsCacheTest, AcceptsACopyOfAValidFile) {
  const Loaded cold = load(model_, path_);
  const fs::path copy = folder_ / "copy";
  write(copy, read_file_bytes(path_));
  fs::permissions(copy, fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_NE(fs::last_write_time(copy), fs::last_write_time(path_));
  EXPECT_EQ(load(model_, copy).mapped, cold.packed);
  EXPECT_EQ(fs::last_write_time(copy), fs::last_write_time(path_));  // sealed again
}

TEST_F(WeightsCacheTest, ReplacesAFileThatOtherUsersMayWrite) {
  load(model_, path_);
  fs::permissions(path_, fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(load(model_, path_).mapped, 0u);
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

// Bytes of a weight change; names and sizes in the program stay the same.
TEST_F(WeightsCacheTest, PacksAChangedModelAgain) {
  AlignedBytes bytes = read_file_bytes(samples_dir() / "digits_xnnpack" / "model.pte");
  const fs::path model = folder_ / "model.pte";
  write(model, bytes);
  const Loaded before = load(model, path_);
  ASSERT_EQ(load(model, path_).packed, 0u);

  // The program uses its largest constant as a filter.
  {
    const auto program = Program::load(*map_file(model.c_str()));
    std::span<const std::byte> largest;
    std::vector<DataBuffer> buffers;
    for (size_t i = 0; i < (*program)->named_data().size(); ++i) {
      buffers.push_back(*(*program)->named_data().get((*program)->named_data().key(i)));
      if (buffers.back().size() > largest.size()) largest = buffers.back().bytes();
    }
    const auto at = std::search(bytes.begin(), bytes.end(), largest.begin(), largest.end());
    ASSERT_NE(at, bytes.end());
    for (size_t i = 3; i < largest.size(); i += 4)
      at[static_cast<std::ptrdiff_t>(i)] ^= std::byte{0x80};
  }
  write(model, bytes);
  const Loaded expected = load(model, "");
  ASSERT_NE(expected.output, before.output);
  const Loaded changed = load(model, path_);
  EXPECT_EQ(changed.output, expected.output);
  EXPECT_GT(changed.packed, 0u);
  const Loaded warm = load(model, path_);
  EXPECT_EQ(warm.packed, 0u);
  EXPECT_EQ(warm.output, expected.output);
}

TEST_F(WeightsCacheTest, AnotherModelReplacesTheFile) {
  load(model_, path_);
  const auto size = fs::file_size(path_);
  const fs::path other = samples_dir() / "digits_xnnpack" / "model.pte";
  const Loaded first = load(other, path_);
  EXPECT_EQ(first.mapped, 0u);
  EXPECT_LT(fs::file_size(path_), size);  // nothing of the first model is kept
  EXPECT_EQ(load(other, path_).mapped, first.packed);
}

TEST_F(WeightsCacheTest, MovedModelUsesItsCachedWeights) {
  const Loaded cold = load(model_, path_);
  const fs::path moved = folder_ / "moved.pte";
  fs::copy_file(model_, moved);
  EXPECT_EQ(load(moved, path_).mapped, cold.packed);
}

// If the file cannot be written, the method still loads and runs.
TEST_F(WeightsCacheTest, WarnsWhyAFileCannotBeWritten) {
  const Loaded without = load(model_, "");
  const auto expect_warning = [&](const std::string& path, const char* reason) {
    SCOPED_TRACE(path);
    const Loaded result = load(model_, path);
    EXPECT_EQ(result.error, "");
    EXPECT_THAT(result.warning,
                HasSubstr("forward, delegates[0] (XnnpackBackend): weights cache: "));
    EXPECT_THAT(result.warning, HasSubstr(path));
    EXPECT_THAT(result.warning, HasSubstr(reason));
    EXPECT_EQ(result.output, without.output);
    EXPECT_EQ(result.packed, without.packed);
  };
  EXPECT_EQ(without.warning, "");
  expect_warning((folder_ / "no such folder" / "weights").string(), "No such file or directory");
  expect_warning(path_.parent_path().string(), "not a regular file");
  write(folder_ / "file", {});
  expect_warning((folder_ / "file" / "weights").string(), "Not a directory");
  expect_warning("/proc/weights", "");  // no user can create a file in this folder
  for (const auto& entry : fs::directory_iterator(path_.parent_path())) {
    EXPECT_EQ(entry.path(), folder_ / "file");  // no partial files are left
  }
}

// A wrong path may name the model itself, a text file, a device or a pipe.
TEST_F(WeightsCacheTest, NeverOverwritesFilesThatAreNotWeightsCaches) {
  const AlignedBytes model = read_file_bytes(samples_dir() / "linear_relu" / "model.pte");
  const fs::path other = folder_ / "other";
  write(other, model);
  EXPECT_THAT(load(model_, other).warning,
              HasSubstr("is not a weights cache, so it is not overwritten"));
  EXPECT_EQ(read_file_bytes(other), model);
  const fs::path shorter = folder_ / "shorter";
  write(shorter, std::vector(3, std::byte{'a'}));
  EXPECT_NE(load(model_, shorter).warning, "");
  EXPECT_EQ(fs::file_size(shorter), 3u);

  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(load(model_, pipe).warning, HasSubstr("not a regular file"));
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST_F(WeightsCacheTest, WritesThroughSymbolicLinks) {
  const fs::path link = folder_ / "link";
  write(path_, {});
  fs::create_symlink(path_, link);
  const Loaded cold = load(model_, link);
  EXPECT_EQ(cold.warning, "");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(load(model_, path_).mapped, cold.packed);
}

// Loads the model on several threads. Each load has its own backend, like a separate process.
TEST_F(WeightsCacheTest, ConcurrentLoadsComputeCorrectly) {
  const Loaded expected = load(model_, "");
  std::array<bool, 4> right{};
  std::array<std::thread, 4> threads;
  for (size_t i = 0; i < threads.size(); ++i) {
    threads[i] = std::thread([&, i] {
      right[i] = true;
      for (int round = 0; round < 5; ++round) {
        const Loaded own = load(model_, path_);
        right[i] = right[i] && own.error.empty() && own.output == expected.output;
        if (i == 0) fs::remove(path_);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(right, testing::Each(true));
  for (const auto& entry : fs::directory_iterator(path_.parent_path())) {
    EXPECT_EQ(entry.path(), path_);  // no partial files are left
  }
}

// Two programs share a file, and each has its own weight "w". The first program computes the digest
// of its weight while the second program starts to use the file.
TEST_F(WeightsCacheTest, ConcurrentProgramsDoNotMixTheirWeights) {
  const auto cache = xnnpack::WeightsCache::open(path_.c_str());
  ASSERT_TRUE(cache);
  const std::vector<std::byte> of_first(64, std::byte{1});
  const std::vector<std::byte> of_second(64, std::byte{2});
  const xnnpack::ConstantOrigin first{.name = "w", .bytes = of_first, .stamp = 1};
  const xnnpack::ConstantOrigin second{.name = "w", .bytes = of_second, .stamp = 2};
  EXPECT_TRUE(cache->recall(first).empty());
  cache->identify({.name = "other", .bytes = of_second, .stamp = 2});
  cache->remember(first, xnnpack::digest_of(of_first, cache->secret()));
  EXPECT_TRUE(cache->identify(second) == xnnpack::digest_of(of_second, cache->secret()));
  EXPECT_TRUE(cache->recall(second) == xnnpack::digest_of(of_second, cache->secret()));
}

}  // namespace
}  // namespace vitrine::test
