#include "train/placed_tables.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "hiaton/error.h"

namespace hiaton::train {
namespace {

/// What a message is, as Header::aux.
enum RowMessage : uint32_t { kQuestion, kAnswer };

constexpr std::chrono::milliseconds kLongestPause(100);

}  // namespace

/// Addresses without memory.
class PlacedTables::Reserved {
 public:
  explicit Reserved(std::size_t bytes) : bytes_(std::max<std::size_t>(bytes, 1)) {
    address_ = ::mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address_ == MAP_FAILED) throw std::bad_alloc();
  }
  Reserved(const Reserved&) = delete;
  Reserved& operator=(const Reserved&) = delete;
  ~Reserved() { ::munmap(address_, bytes_); }

  std::byte* elements() const { return static_cast<std::byte*>(address_); }

 private:
  std::size_t bytes_;
  void* address_;
};

PlacedTables::PlacedTables(net::Transport& transport, std::vector<ParameterValues>& parameters,
                           Holders holders, bool computes)
    : transport_(transport),
      parameters_(parameters),
      holders_(std::move(holders)),
      computes_(computes),
      reserved_(parameters.size()) {
  for (std::size_t i = 0; computes && i < parameters.size(); ++i) {
    if (!is_here(i))
      reserved_[i] =
          std::make_shared<Reserved>(row_bytes(i) * static_cast<std::size_t>(parameters[i].row_count()));
  }
}

PlacedTables::~PlacedTables() = default;

bool PlacedTables::is_here(std::size_t parameter) const {
  return holders_[parameter] ? *holders_[parameter] == transport_.self() : computes_;
}

std::size_t PlacedTables::row_bytes(std::size_t parameter) const {
  const ParameterValues& table = parameters_[parameter];
  return static_cast<std::size_t>(table.row_width()) * size_of(table.values.dtype());
}

Tensor PlacedTables::stand_in(std::size_t parameter) {
  const std::shared_ptr<const Reserved>& reserved = reserved_[parameter];
  return Tensor(parameters_[parameter].values.dtype(), parameters_[parameter].shape, reserved->elements(),
                reserved);
}

Tensor PlacedTables::fetch(std::size_t parameter) {
  const ParameterValues& table = parameters_[parameter];
  Tensor all = Tensor::uninitialized(table.values.dtype(), table.shape);
  std::vector<int64_t> rows(static_cast<std::size_t>(table.row_count()));
  std::iota(rows.begin(), rows.end(), int64_t{0});
  const std::lock_guard lock(mutex_);
  ask(parameter, rows, {all.mutable_data<std::byte>(), rows.size() * row_bytes(parameter)});
  return all;
}

bool PlacedTables::is_elsewhere(const std::byte* elements) const {
  return std::ranges::any_of(reserved_, [elements](const auto& reserved) {
    return reserved != nullptr && reserved->elements() == elements;
  });
}

void PlacedTables::gather(const std::byte* elements, std::span<const int64_t> rows, std::byte* to) {
  const auto found = std::ranges::find_if(reserved_, [elements](const auto& reserved) {
    return reserved != nullptr && reserved->elements() == elements;
  });
  HIATON_CHECK(found != reserved_.end());
  const auto parameter = static_cast<std::size_t>(found - reserved_.begin());
  const std::size_t width = row_bytes(parameter);
  std::vector<int64_t> different(rows.begin(), rows.end());
  std::ranges::sort(different);
  different.erase(std::unique(different.begin(), different.end()), different.end());
  std::vector<std::byte> values(different.size() * width);
  {
    const std::lock_guard lock(mutex_);
    ask(parameter, different, values);
  }
  for (const int64_t row : rows) {
    const auto at = static_cast<std::size_t>(std::ranges::lower_bound(different, row) - different.begin());
    std::memcpy(to, values.data() + at * width, width);
    to += width;
  }
}

/// Messages of others that come before the answer are given back.
void PlacedTables::ask(std::size_t parameter, std::span<const int64_t> rows, std::span<std::byte> to) {
  if (to.empty()) return;
  const int holder = *holders_[parameter];
  const uint64_t name = ++questions_;
  net::ByteWriter question;
  question.number(rounds_);
  question.compact(parameter);
  question.compact(rows.size());
  question.raw(rows.data(), rows.size_bytes());
  transport_.send(holder, {.channel = kChannel, .aux = kQuestion, .name = name}, question.bytes());
  transport_.flush();
  struct Other {
    int from;
    net::Header header;
    std::vector<std::byte> payload;
  };
  std::vector<Other> others;
  bool has_answer = false;
  const auto take = [&](int from, const net::Header& header, std::span<const std::byte> payload) {
    const bool is_answer = header.channel == kChannel && header.aux == kAnswer;
    if (!is_answer) return others.push_back({from, header, {payload.begin(), payload.end()}}), void();
    if (from != holder || header.name != name || payload.size() != to.size() || has_answer)
      throw ProgramError(fmt::format("{}: expected {} bytes of '{}', which it was asked for, found {} bytes",
                                     transport_.name(from), to.size(), parameters_[parameter].name,
                                     payload.size()));
    std::memcpy(to.data(), payload.data(), payload.size());
    has_answer = true;
  };
  while (!has_answer) {
    if (transport_.poll(take) == 0 && !has_answer) transport_.wait(kLongestPause);
  }
  for (Other& other : others) transport_.put_back(other.from, other.header, std::move(other.payload));
}

void PlacedTables::answer_waiting() {
  for (std::deque<Question> questions = std::exchange(waiting_, {}); Question & question : questions) {
    if (!answer(question.from, question.name, question.payload)) waiting_.push_back(std::move(question));
  }
  transport_.flush();
}

void PlacedTables::take(int from, const net::Header& header, std::span<const std::byte> payload) {
  if (header.channel != kChannel || header.aux != kQuestion)
    throw ProgramError(fmt::format("{}: expected a question for rows, found message {} on channel {}",
                                   transport_.name(from), header.aux, header.channel));
  if (!answer(from, header.name, payload))
    return waiting_.push_back({from, header.name, {payload.begin(), payload.end()}}), void();
  transport_.flush();
}

bool PlacedTables::answer(int from, uint64_t name, std::span<const std::byte> payload) {
  const std::string sender = "message from " + transport_.name(from);
  net::ByteReader in(payload, sender);
  const auto rounds = in.number<uint64_t>();
  if (rounds > rounds_) return false;
  if (rounds < rounds_)
    in.fail(fmt::format("expected a question after {} rounds, found one after {}", rounds_, rounds));
  const uint64_t parameter = in.compact();
  if (parameter >= parameters_.size() || !holders_[parameter] || !is_here(parameter))
    in.fail(fmt::format("expected a parameter that this process holds, found number {}", parameter));
  const uint64_t count = in.compact();
  if (count > in.left() / sizeof(int64_t))
    in.fail(fmt::format("expected {} bytes of row numbers, found {}", count * sizeof(int64_t), in.left()));
  const std::byte* numbers = in.take(count * sizeof(int64_t));
  in.require_end();
  const ParameterValues& table = parameters_[parameter];
  const std::size_t width = row_bytes(parameter);
  const std::span<const std::byte> values = std::as_const(table.values).bytes();
  std::vector<std::byte> rows(count * width);
  for (uint64_t i = 0; i < count; ++i) {
    int64_t row = 0;
    std::memcpy(&row, numbers + i * sizeof row, sizeof row);
    if (row < 0 || row >= table.row_count())
      in.fail(fmt::format("expected a row below {}, found {}", table.row_count(), row));
    std::memcpy(rows.data() + i * width, values.data() + static_cast<std::size_t>(row) * width, width);
  }
  transport_.send(from, {.channel = kChannel, .aux = kAnswer, .name = name}, rows);
  return true;
}

}  // namespace hiaton::train
