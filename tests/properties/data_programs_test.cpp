// Random programs on data types, also with tensors, with strings and with bytes: the values or the error of
// the reference, for any number of workers and processes, with calls given away at every chance, and nothing
// is left over in the end, also where a budget ends the run: there, too, all counts are right.
//
// HIATON_PROGRAMS=1000000 HIATON_SEED=7 test_properties --gtest_filter=*RandomDataPrograms.*
#include <gtest/gtest.h>

#include "hiaton/hiaton.h"
#include "net/disordered.h"
#include "properties/generate.h"
#include "properties/random_choices.h"
#include "sized.h"

namespace hiaton::properties {
namespace {

constexpr uint64_t kEnoughForFaults = 500;                   ///< so many programs that some end with a fault
constexpr uint64_t kDataPrograms = sized_programs(500, 60);  ///< of each of the four kinds of fields
constexpr int64_t kFewTurns = 1;
constexpr int64_t kTurns = 7;

struct End {
  std::vector<Value> values;
  Fault fault = Fault::None;

  friend bool operator==(const End&, const End&) = default;
};

End end_of(const hiaton::Program& program, const std::vector<Value>& arguments, RunOptions options,
           RunStats* tell = nullptr) {
  RunStats stats;
  options.stats = &stats;
  options.checks_counts = true;
  End end;
  try {
    end.values = program.run(arguments, options).values;
  } catch (const RunError& error) {
    end.fault = error.fault();
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
  EXPECT_EQ(stats.values_live_at_end, 0u);
  EXPECT_EQ(stats.frames_live_at_end, 0u);
  if (tell != nullptr) *tell = stats;
  return end;
}

std::vector<RunOptions> ways_to_run(uint64_t seed, FieldsOf fields) {
  const bool has_others = fields != FieldsOf::Numbers;
  std::vector<RunOptions> ways{{.workers = 1}};
  for (const int workers : {1, 2, 8}) {
    RunOptions way{.workers = workers, .share_every_call = workers > 1};
    way.parallel_iterations = static_cast<int>(2 + seed % 4);
    way.batching = !has_others;
    ways.push_back(way);
  }
  if (has_others) {
    ways.push_back({.workers = 2, .batching = false});
    ways.push_back({.executor = Executor::Flow});
    ways.push_back({.workers = 2});
  }
  // Each program meets one of those that take longer.
  switch (seed % 3) {
    case 0:
      ways.push_back({.executor = Executor::Expanding});
      break;
    case 1:
      ways.push_back({.executor = Executor::Flow, .workers = 2, .share_every_call = true});
      break;
    default:
      ways.push_back({.executor = Executor::Flow, .workers = 8, .share_every_call = true});
  }
  std::erase_if(ways, [](const RunOptions& way) { return !has_to_run(way.workers); });
  return ways;
}

/// Runs that a budget ends somewhere, or not: their results are whole then. A run after them is as before.
/// Gives how many ended by the budget.
uint64_t end_by_budgets(const hiaton::Program& program, const std::vector<Value>& arguments,
                        const End& expected, uint64_t seed, FieldsOf fields) {
  Random random(seed);
  const std::vector<RunOptions> ways = ways_to_run(seed, fields);
  const RunOptions& way =
      ways[static_cast<std::size_t>(random.between(0, static_cast<int>(ways.size()) - 1))];
  RunStats whole;
  EXPECT_EQ(end_of(program, arguments, way, &whole), expected);
  uint64_t ended = 0;
  const auto part_of = [&](uint64_t most) {
    return most * static_cast<uint64_t>(random.between(0, 100)) / 100;
  };
  RunOptions few_frames = way;
  few_frames.max_frames = part_of(whole.frames_live_most);
  RunOptions few_bytes = way;
  few_bytes.max_bytes = part_of(whole.bytes);
  for (const auto& [within, fault] :
       {std::pair(few_frames, Fault::MaxFrames), {few_bytes, Fault::MaxBytes}}) {
    const End end = end_of(program, arguments, within);
    if (end.fault == fault) {
      EXPECT_TRUE(end.values.empty());
      ++ended;
    } else {
      EXPECT_EQ(end, expected) << within.max_frames << " frames, " << within.max_bytes << " bytes";
    }
  }
  EXPECT_EQ(end_of(program, arguments, way), expected) << "after a run that a budget ended";
  return ended;
}

/// In one to four processes; packets arrive in an order that the seed decides.
End end_in_processes(const hiaton::Program& program, const std::vector<Value>& arguments, uint64_t seed) {
  constexpr net::Delivery kDeliveries[] = {net::Delivery::InOrder, net::Delivery::LastFirst,
                                           net::Delivery::Random, net::Delivery::StarvedOne,
                                           net::Delivery::Bursts};
  const int processes = static_cast<int>(1 + seed % 4);
  const net::Delivery delivery = kDeliveries[seed % std::size(kDeliveries)];
  RunOptions options{.workers = static_cast<int>(1 + seed / 4 % 2), .share_every_call = true};
  options.batching = false;
  End first;
  const auto links = net::disordered_links(processes, delivery, static_cast<uint32_t>(seed));
  net::act_in_processes(links, [&](net::Transport& transport) {
    RunOptions own = options;
    own.processes = &transport;
    End end = end_of(program, arguments, own);
    if (transport.self() == 0) {
      first = std::move(end);
    } else {
      EXPECT_EQ(end, End()) << "process " << transport.self();
    }
  });
  return first;
}

class RandomDataPrograms : public testing::TestWithParam<FieldsOf> {};
INSTANTIATE_TEST_SUITE_P(Fields, RandomDataPrograms,
                         testing::Values(FieldsOf::Numbers, FieldsOf::Tensors, FieldsOf::Strings,
                                         FieldsOf::Bytes),
                         [](const auto& info) {
                           return info.param == FieldsOf::Numbers   ? "OfNumbers"
                                  : info.param == FieldsOf::Tensors ? "WithTensors"
                                  : info.param == FieldsOf::Strings ? "WithStrings"
                                                                    : "WithBytes";
                         });

TEST_P(RandomDataPrograms, RunLikeTheReference) {
  const FieldsOf fields = GetParam();
  const uint64_t first = from_environment("HIATON_SEED", 1);
  const uint64_t count = from_environment("HIATON_PROGRAMS", kDataPrograms);
  uint64_t faults = 0;
  uint64_t ended = 0;  // by a budget
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const std::string text = random_data_program(seed, fields);
    SCOPED_TRACE("HIATON_SEED=" + std::to_string(seed) + " HIATON_PROGRAMS=1\n" + text);
    CompileOptions how;
    if (seed % 8 == 0) how.simplify = passes::SimplifyOptions::none();
    const hiaton::Program program = hiaton::Program::from_text("random.hia", text, how);
    for (const int64_t turns : {kFewTurns, kTurns}) {
      const std::vector<Value> arguments{Value(turns), Value(static_cast<int64_t>(seed))};
      const End expected = end_of(program, arguments, {.executor = Executor::Reference});
      faults += expected.fault == Fault::None ? 0 : 1;
      for (const RunOptions& way : ways_to_run(seed, fields)) {
        if (turns == kFewTurns && way.workers > 2) continue;  // there is less to do than to start them
        ASSERT_EQ(end_of(program, arguments, way), expected) << way.workers << " workers";
        if (::testing::Test::HasFailure()) return;
      }
      if (seed % 4 == 1) {
        ended += end_by_budgets(program, arguments, expected, seed, fields);
        if (::testing::Test::HasFailure()) return;
      }
      if (seed % 2 == 0) {
        ASSERT_EQ(end_in_processes(program, arguments, seed / 2), expected) << "in processes";
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
  if (count >= kEnoughForFaults) {
    EXPECT_GT(faults, 0u);
    EXPECT_GT(ended, 0u);
  }
}

}  // namespace
}  // namespace hiaton::properties
