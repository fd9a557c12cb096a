// Every program of the project prints as a text that parses back to it.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file_bytes.h"
#include "lang/programs.h"
#include "tests_dir.h"

namespace hiaton {
namespace {

const std::filesystem::path kRoot = tests_dir() / "..";

std::vector<std::filesystem::path> programs() {
  std::vector<std::filesystem::path> files;
  for (const char* folder : {"examples", "models", "benchmarks/programs"}) {
    for (const auto& entry : std::filesystem::directory_iterator(kRoot / folder)) {
      if (entry.path().extension() == ".hia") files.push_back(entry.path());
    }
  }
  return files;
}

TEST(PrintPrograms, ParseBackToThemselves) {
  const std::vector<std::filesystem::path> files = programs();
  ASSERT_GT(files.size(), 50u);
  for (const std::filesystem::path& file : files) {
    SCOPED_TRACE(file.filename());
    const ir::Module module = lang::parse(std::make_shared<Source>(file.string(), read_file(file.string())));
    const std::string printed = print(module);
    try {
      const ir::Module again = parse(printed);
      EXPECT_TRUE(equal(module, again)) << printed;
      EXPECT_EQ(print(again), printed);
    } catch (const ProgramError& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

}  // namespace
}  // namespace hiaton
