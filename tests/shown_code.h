// Code of a test that a document shows.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests_dir.h"

namespace hiaton {

/// That tests/`test` holds code between the lines "// Shown in docs/`document`, from here" and "// to
/// here", and the document has exactly this code.
inline void expect_shown(const std::string& test, const std::string& document) {
  const std::filesystem::path tests = tests_dir();
  const std::string code = file_text(tests / test);
  const std::string begin = "// Shown in docs/" + document + ", from here\n";
  const std::size_t from = code.find(begin) + begin.size();
  const std::string shown = code.substr(from, code.find("// to here\n") - from);
  ASSERT_FALSE(shown.empty());
  EXPECT_NE(file_text(tests.parent_path() / "docs" / document).find(shown), std::string::npos);
}

}  // namespace hiaton
