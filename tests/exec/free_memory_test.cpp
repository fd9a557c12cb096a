#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "exec/budget.h"

namespace hiaton::exec {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

class ControlGroups : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(mount_); }
  void TearDown() override { fs::remove_all(mount_); }

  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((mount_ / file).parent_path());
    std::ofstream(mount_ / file) << text;
  }
  uint64_t left(const std::string& groups) const { return free_in_groups(groups, mount_.string()); }

  const fs::path mount_ =
      fs::path(::testing::TempDir()) / ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(ControlGroups, WithoutALimitAllIsLeft) {
  write("job/memory.max", "max\n");
  write("job/memory.current", "700\n");
  EXPECT_EQ(left("0::/job\n"), kUnlimited);
  EXPECT_EQ(left("0::/not/there\n"), kUnlimited);
  EXPECT_EQ(left(""), kUnlimited);
  EXPECT_EQ(left("no group\n4:memory\n"), kUnlimited);
}

TEST_F(ControlGroups, TheTightestOfAllGroupsAroundHolds) {
  write("memory.max", "5000\n");
  write("memory.current", "1000\n");
  write("outer/memory.max", "3000\n");
  write("outer/memory.current", "900\n");
  write("outer/inner/memory.max", "max\n");
  write("outer/inner/memory.current", "800\n");
  EXPECT_EQ(left("0::/\n"), 4000u);
  EXPECT_EQ(left("0::/outer/inner\n"), 2100u);
}

TEST_F(ControlGroups, CopiesOfFilesAreLeft) {
  write("memory.max", "5000\n");
  write("memory.current", "4900\n");
  write("memory.stat", "anon 100\ninactive_file 4000\n");
  EXPECT_EQ(left("0::/\n"), 4100u);
  write("memory.current", "6000\n");
  write("memory.stat", "anon 6000\n");
  EXPECT_EQ(left("0::/\n"), 0u);
}

TEST_F(ControlGroups, OfTheFirstVersionAreFoundByTheirController) {
  write("memory/job/memory.limit_in_bytes", "2000\n");
  write("memory/job/memory.usage_in_bytes", "1500\n");
  write("memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 300\n");
  EXPECT_EQ(left("5:cpu,cpuacct:/\n4:cpuset,memory:/job\n0::/\n"), 800u);
  EXPECT_EQ(left("5:cpu,cpuacct:/\n4:memory_of_others:/job\n"), kUnlimited);
}

TEST(FreeMemory, IsMoreThanNothingAndLessThanAnyMachineHas) {
  EXPECT_GT(free_memory(), uint64_t{1} << 20);
  EXPECT_LT(free_memory(), uint64_t{1} << 50);
}

}  // namespace
}  // namespace hiaton::exec
