// Builders refuse nodes, blocks and values that do not exist, and all work on a module that is finished.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/support.h"

namespace hiaton {
namespace {

using testing::HasSubstr;

const Type kNumber = DType::I64;

TEST(BuilderMisuse, BlocksThatWereNotBegun) {
  const std::string expected = "function 'f': expected a block that was begun, found another";
  const ir::BlockId none;
  const ir::BlockId far(42);
  for (const ir::BlockId block : {none, far}) {
    EXPECT_EQ(error_in([&](FunctionBuilder& f) { return f.block_params(block); }), expected);
    EXPECT_EQ(error_in([&](FunctionBuilder& f) { return f.finish_if(f.param(0) == 0, block, block); }),
              expected);
    EXPECT_EQ(error_in([&](FunctionBuilder& f) { return f.finish_while(f.param(0), block, block); }),
              expected);
    EXPECT_EQ(error_in([&](FunctionBuilder& f) {
                f.named(f.param(0) + 1, "m");
                return f.finish_if_again(f.last_node(), block, block);
              }),
              expected);
  }
}

TEST(BuilderMisuse, BlocksAreEndedFromTheInside) {
  const std::string expected = "function 'f': expected to end the block that was begun last, found another";
  EXPECT_EQ(error_in([](FunctionBuilder& f) {
              f.end_block(ir::BlockId(42), f.param(0));
              return f.param(0);
            }),
            expected);
  EXPECT_EQ(error_in([](FunctionBuilder& f) {
              const ir::BlockId outer = f.begin_block({});
              f.begin_block({});
              f.end_block(outer, f.param(0));
              return f.param(0);
            }),
            expected);
  EXPECT_EQ(error_in([](FunctionBuilder& f) {
              const ir::BlockId block = f.begin_block({});
              f.end_block(block, f.param(0));
              f.end_block(block, f.param(0));
              return f.param(0);
            }),
            expected);
  EXPECT_EQ(error_in([](FunctionBuilder& f) {
              f.begin_block({});  // never ended
              return f.param(0);
            }),
            expected);
}

TEST(BuilderMisuse, CallsThatCannotBeResumed) {
  for (const ir::NodeId node : {ir::NodeId(), ir::NodeId(99)}) {
    EXPECT_EQ(error_in([&](FunctionBuilder& f) { return f.resume(node, 0, {f.param(0)}); }),
              "function 'f': expected a node that was made, found another");
  }
  EXPECT_EQ(error_in([](FunctionBuilder& f) {
              f.named(f.param(0) + 1, "m");
              return f.resume(f.last_node(), 0, {f.param(0)});
            }),
            "function 'f': expected a call to resume, found another node");
}

TEST(BuilderMisuse, ValuesThatAreNotThere) {
  EXPECT_EQ(error_in([](FunctionBuilder& f) { return Vars(f.param(0))[1]; }),
            "expected an index below 1 values, found 1");
}

TEST(BuilderMisuse, NothingWorksOnAFinishedModule) {
  ModuleBuilder program;
  const FunctionRef main = program.declare("main", {{kNumber, "n"}}, {kNumber});
  Var kept;
  program.define(main, [&](FunctionBuilder& f) { return kept = f.param(0); });
  const ir::Module module = program.finish();
  EXPECT_THAT(error_of([&] { kept.type(); }), HasSubstr("the module is finished"));
  EXPECT_THAT(error_of([&] { kept + 1; }), HasSubstr("the module is finished"));
  EXPECT_THAT(error_of([&] { kept.builder().param(0); }), HasSubstr("the module is finished"));
  EXPECT_EQ(error_of([&] { program.module(); }), "the module is finished");
  EXPECT_EQ(error_of([&] { program.declare("g", {}, {kNumber}); }), "the module is finished");
  EXPECT_EQ(error_of([&] { program.redefine(main, [](FunctionBuilder& f) { return f.param(0); }); }),
            "the module is finished");
  EXPECT_EQ(error_of([&] { program.add_parameter("w", tensor_type(DType::F32, {2})); }),
            "the module is finished");
}

TEST(BuilderMisuse, DimensionsThatAreNone) {
  ModuleBuilder program;
  for (const Dim& dim : {Dim{-7, ""}, Dim{-7, "d"}, Dim{-1, ""}}) {
    const Type type(DType::I64, {dim});
    EXPECT_THAT(error_of([&] {
                  program.declare("f", {{type, "x"}}, {kNumber});
                }),
                HasSubstr("function 'f': expected dimensions of 0 or more, or -1 and a symbol, found -"));
    EXPECT_THAT(error_of([&] { program.declare("f", {}, {type}); }), HasSubstr("expected dimensions"));
  }
}

}  // namespace
}  // namespace hiaton
