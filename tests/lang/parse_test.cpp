#include <gtest/gtest.h>

#include "hiaton/error.h"
#include "hiaton/lang.h"

namespace hiaton {
namespace {

ir::Module parse(std::string text) {
  return lang::parse(std::make_shared<Source>("test.hia", std::move(text)));
}

TEST(Parse, RecursiveFunctionBecomesIfAndCall) {
  const ir::Module module = parse("fn fact(n: i64) -> i64 = if n == 1 then n else n * fact(n - 1)\n");
  ASSERT_EQ(module.functions.size(), 1u);
  const ir::Function& fact = module.functions[0];
  EXPECT_EQ(fact.name, "fact");
  EXPECT_EQ(fact[fact.body].nodes.size(), 3u);  // 1, n == 1, if
}

}  // namespace
}  // namespace hiaton
