#include "vitrine/thread_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace vitrine {
namespace {

using testing::HasSubstr;

TEST(ThreadPool, ZeroMeansPerformingCores) {
  const size_t cores = performing_core_count();
  EXPECT_GE(cores, 1u);
  EXPECT_LE(cores, std::max(1u, std::thread::hardware_concurrency()));
  const auto pool = ThreadPool::create(0);
  ASSERT_TRUE(pool.ok());
  EXPECT_EQ((*pool)->threads(), cores);
}

TEST(ThreadPool, HasAsManyThreadsAsAsked) {
  const auto pool = ThreadPool::create(3);
  ASSERT_TRUE(pool.ok());
  EXPECT_EQ((*pool)->threads(), 3u);
  EXPECT_NE((*pool)->handle(), nullptr);
}

TEST(ThreadPool, OneThreadIsTheCallers) {
  const auto pool = ThreadPool::create(1);
  ASSERT_TRUE(pool.ok());
  EXPECT_EQ((*pool)->threads(), 1u);
  EXPECT_EQ((*pool)->handle(), nullptr);
}

TEST(ThreadPool, RefusesTooMany) {
  const auto pool = ThreadPool::create(1025);
  ASSERT_FALSE(pool.ok());
  EXPECT_EQ(pool.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(pool.error().message(), HasSubstr("1025 threads"));
  EXPECT_FALSE(ThreadPool::create(SIZE_MAX).ok());
}

}  // namespace
}  // namespace vitrine
