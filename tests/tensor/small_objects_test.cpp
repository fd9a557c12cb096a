// Memory of small objects is used again by the thread that freed it, up to a limit, and leaves with it.
#include "tensor/small_objects.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "hiaton/value.h"

namespace hiaton {
namespace {

#if defined(HIATON_SANITIZED)
constexpr bool kKeeps = false;
#else
constexpr bool kKeeps = true;
#endif

TEST(SmallObjects, AreMadeOfWhatWasFreed) {
  free_kept_objects();
  void* first = allocate_object(40);
  free_object(first, 40);
  EXPECT_EQ(bytes_kept(), kKeeps ? 48u : 0u);
  void* second = allocate_object(40);
  EXPECT_EQ(second == first, kKeeps);
  EXPECT_EQ(bytes_kept(), 0u);
  free_object(second, 40);
  free_kept_objects();
  EXPECT_EQ(bytes_kept(), 0u);
}

TEST(SmallObjects, OfOneSizeClassHaveRoomForTheLargest) {
  free_kept_objects();
  for (std::size_t bytes = 1; bytes <= 300; ++bytes) {
    void* small = allocate_object(bytes);
    std::memset(small, 1, bytes);
    free_object(small, bytes);
    const std::size_t largest = (bytes + 8 + 15) / 16 * 16 - 8;
    void* large = allocate_object(largest);
    std::memset(large, 2, largest);
    free_object(large, largest);
  }
  free_kept_objects();
}

TEST(SmallObjects, AreKeptUpToALimit) {
  free_kept_objects();
  std::vector<void*> objects(2 * kMostBytesKept / 64);
  for (void*& object : objects) object = allocate_object(56);
  EXPECT_EQ(std::set<void*>(objects.begin(), objects.end()).size(), objects.size());
  for (void* object : objects) free_object(object, 56);
  EXPECT_LE(bytes_kept(), kMostBytesKept);
  EXPECT_GE(bytes_kept(), kKeeps ? kMostBytesKept - 64 : 0);
  free_kept_objects();
}

TEST(SmallObjects, AreFreedByWhicheverThreadLetsGoOfThem) {
  free_kept_objects();
  Value list = Value(Data(0, {}));
  for (int64_t i = 0; i < 1000; ++i) list = Value(Data(1, {Value(i), list}));
  std::thread([list = std::move(list)]() mutable {
    list = Value();
    EXPECT_GE(bytes_kept(), kKeeps ? 1000 * 24u : 0u);
  }).join();
  EXPECT_EQ(bytes_kept(), 0u);
}

}  // namespace
}  // namespace hiaton
