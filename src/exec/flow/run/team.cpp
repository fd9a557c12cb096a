#include "exec/flow/run/team.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "base/short_wait.h"

namespace hiaton::exec::flow {

Team::Team(int workers, std::size_t parts, Sharing sharing)
    : launches_(static_cast<std::size_t>(workers)),
      sharing_(sharing),
      parts_(parts),
      workers_(static_cast<std::size_t>(workers)),
      seats_(std::make_unique<Seat[]>(workers_)),
      open_(parts),
      idle_(static_cast<int>(workers_ - std::min(workers_, parts))) {}

Team::~Team() = default;

std::optional<std::size_t> Team::take_part() {
  const std::size_t part = next_part_.fetch_add(1);
  return part < parts_ ? std::optional(part) : std::nullopt;
}

void Team::end_part() {
  close(1);
}

void Team::close(std::size_t count) {
  if (open_.fetch_sub(count) == count) launches_.wake();
}

uint32_t Team::join() {
  return joined_.fetch_add(1);
}

std::vector<Message> Team::rest(uint32_t number, bool at_work) {
  Seat& seat = seats_[number];
  // Others may have taken a part of whoever comes late: he was not counted as idle.
  const bool is_expected = !at_work && resting_early_.fetch_add(1) < workers_ - std::min(workers_, parts_);
  if (!is_expected) idle_.fetch_add(1);
  if (at_work) show(number, 0, false);
  if (shares_calls()) ask(number);
  if (at_work) close(1);
  std::vector<Message> mail;
  while (true) {
    const uint64_t round = launches_.round();
    if (seat.has_mail.load()) {
      mail = take_from(seat);
      idle_.fetch_sub(1);
      if (mail.size() > 1) close(mail.size() - 1);  // of one, the worker is what is open now
      break;
    }
    if (open_.load() == 0 || is_stopping_.load()) break;
    if (!launches_.help()) launches_.wait_for_other_than(round);
  }
  if (shares_calls()) withdraw(number);
  return mail;
}

void Team::stop() {
  is_stopping_.store(true);
  launches_.wake();
}

// Calls -----------------------------------------------------------------------------------------------------

void Team::ask(uint32_t number) {
  const std::lock_guard lock(asking_mutex_);
  asking_.push_back(number);
  asking_count_.store(asking_.size());
}

void Team::withdraw(uint32_t number) {
  const std::lock_guard lock(asking_mutex_);
  std::erase(asking_, number);
  asking_count_.store(asking_.size());
}

std::optional<uint32_t> Team::take_asking() {
  const std::lock_guard lock(asking_mutex_);
  if (asking_.empty()) return std::nullopt;
  const uint32_t number = asking_.front();
  asking_.erase(asking_.begin());
  asking_count_.store(asking_.size());
  return number;
}

std::optional<uint32_t> Team::somebody_else(uint32_t number) {
  constexpr std::chrono::seconds kPatience{1};
  const auto end = std::chrono::steady_clock::now() + kPatience;
  ShortWait wait;
  while (joined_.load() < workers_ && std::chrono::steady_clock::now() < end) wait.pause();
  const uint32_t joined = joined_.load();
  if (joined < 2) return std::nullopt;
  const uint32_t other = next_other_.fetch_add(1) % (joined - 1);
  return other < number ? other : other + 1;
}

void Team::show(uint32_t number, uint64_t frames, bool has_calls) {
  seats_[number].frames.store(frames, std::memory_order_relaxed);
  seats_[number].has_calls.store(has_calls, std::memory_order_relaxed);
}

bool Team::has_more(uint32_t number, uint64_t frames) const {
  constexpr uint64_t kMany = 2000;
  return std::any_of(seats_.get(), seats_.get() + workers_, [&](const Seat& seat) {
    const uint64_t theirs = seat.frames.load(std::memory_order_relaxed);
    return &seat != &seats_[number] && seat.has_calls.load(std::memory_order_relaxed) && theirs > kMany &&
           2 * theirs > frames;
  });
}

// Mail ------------------------------------------------------------------------------------------------------

void Team::send(uint32_t to, std::span<Message> messages) {
  open_.fetch_add(messages.size());
  Seat& seat = seats_[to];
  {
    const std::lock_guard lock(seat.mutex);
    std::move(messages.begin(), messages.end(), std::back_inserter(seat.mail));
    seat.has_mail.store(true);
  }
  launches_.wake();
}

std::vector<Message> Team::take_from(Seat& seat) {
  const std::lock_guard lock(seat.mutex);
  seat.has_mail.store(false);
  return std::exchange(seat.mail, {});
}

std::vector<Message> Team::take_mail(uint32_t number) {
  std::vector<Message> mail = take_from(seats_[number]);
  if (!mail.empty()) open_.fetch_sub(mail.size());
  return mail;
}

// Launches --------------------------------------------------------------------------------------------------

void Team::run(std::size_t count, const std::function<void(std::size_t)>& work) {
  launches_.run(count, work, [] {});
}

}  // namespace hiaton::exec::flow
