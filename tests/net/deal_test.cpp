#include "net/deal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "hiaton/error.h"
#include "net/processes.h"

namespace hiaton::net {
namespace {

using testing::HasSubstr;

/// Squares of numbers.
class Squares : public Dealt {
 public:
  explicit Squares(std::size_t size, uint64_t fails_at = ~uint64_t{0}) : size_(size), fails_at_(fails_at) {}

  std::size_t size() const override { return size_; }
  void write(const Range& range, ByteWriter& things) override {
    for (std::size_t i = 0; i < range.count; ++i) things.number(uint64_t{range.begin + i});
  }
  void work(ByteReader& things, ByteWriter& results) override {
    while (things.left() > 0) {
      const auto number = things.number<uint64_t>();
      if (number == fails_at_) throw ProgramError("no square of " + std::to_string(number));
      results.number(number * number);
      ++worked;
    }
  }
  void take(const Range& range, ByteReader& results) override {
    EXPECT_EQ(range.begin, squares.size());
    for (std::size_t i = 0; i < range.count; ++i) squares.push_back(results.number<uint64_t>());
  }

  std::vector<uint64_t> squares;
  std::size_t worked = 0;

 private:
  std::size_t size_;
  uint64_t fails_at_;
};

class SquaresWork : public Work {
 public:
  SquaresWork(std::size_t size, uint64_t fails_at, std::atomic<std::size_t>& by_others)
      : squares_(size, fails_at), by_others_(by_others) {}
  std::string prepare(int /*self*/) override { return "squares"; }
  void work(Transport& transport) override {
    deal(transport, squares_, 7);
    if (transport.self() != 0) {
      by_others_ += squares_.worked;
      return;
    }
    ASSERT_EQ(squares_.squares.size(), squares_.size());
    for (std::size_t i = 0; i < squares_.size(); ++i) EXPECT_EQ(squares_.squares[i], i * i);
  }

 private:
  Squares squares_;
  std::atomic<std::size_t>& by_others_;
};

TEST(Deal, AllIsDoneOnceAndTheResultsComeInOrder) {
  std::atomic<std::size_t> by_others = 0;
  for (std::size_t size : {0, 1, 5, 1000, 20'000}) {
    for (int processes : {1, 2, 4}) {
      work_in_threads(processes, {},
                      [&] { return std::make_unique<SquaresWork>(size, ~uint64_t{0}, by_others); });
    }
  }
  // Where other programs use the machine, the first process may have done all before another one runs.
  for (int runs = 0; runs < 1000 && by_others == 0; ++runs)
    work_in_threads(2, {}, [&] { return std::make_unique<SquaresWork>(20'000, ~uint64_t{0}, by_others); });
  EXPECT_GT(by_others, 0u);
}

TEST(Deal, AnErrorEndsAllAndIsThrownOnce) {
  std::atomic<std::size_t> by_others = 0;
  for (uint64_t fails_at : {0, 17, 999}) {
    try {
      work_in_threads(3, {}, [&] { return std::make_unique<SquaresWork>(1000, fails_at, by_others); });
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("no square of " + std::to_string(fails_at)));
    }
  }
}

}  // namespace
}  // namespace hiaton::net
