// The graphs of the programs in tests/golden/lower, line by line. After a wanted change run this test with
// HIATON_UPDATE_GOLDEN=1 and look at the difference.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "lower_support.h"
#include "tests_dir.h"

namespace hiaton::passes {
namespace {

using namespace testing;

const std::filesystem::path kFolder = tests_dir() / "golden" / "lower";

class LowerGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(LowerGolden, GraphIsAsRecorded) {
  const std::filesystem::path program = kFolder / (GetParam() + ".hia");
  const std::filesystem::path recorded = kFolder / (GetParam() + ".txt");
  const auto source = std::make_shared<Source>(GetParam() + ".hia", file_text(program));
  const Graph graph = lower(lang::parse(source));
  const std::string text = graph::to_text(graph);
  if (std::getenv("HIATON_UPDATE_GOLDEN") != nullptr) std::ofstream(recorded, std::ios::binary) << text;
  EXPECT_EQ(text, file_text(recorded));
  EXPECT_EQ(text, graph::to_text(graph::from_json(graph::to_json(graph), "saved.json")))
      << "saved and loaded";
}

std::vector<std::string> programs() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".hia") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Programs, LowerGolden, ::testing::ValuesIn(programs()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hiaton::passes
