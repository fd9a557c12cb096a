// How processes come together: each says to process 0 what it is, and process 0 says to all whether they may
// begin.
#include <fmt/format.h>

#include <algorithm>

#include "net/transport.h"

namespace hiaton::net {

void Transport::introduce(Identity identity) {
  const std::lock_guard lock(mutex_);
  peer(self_).identity = std::move(identity);
  peer(self_).has_said_hello = true;
  if (self_ == 0) return give_verdict_when_all_are_here();
  ByteWriter hello;
  write_identity(peer(self_).identity, hello);
  control(0, Kind::Hello, hello);
}

void Transport::hello(int from, ByteReader& in) {
  if (self_ != 0 || peer(from).has_said_hello) in.fail("expected no further hello, found one");
  peer(from).identity = read_identity(in);
  peer(from).has_said_hello = true;
  give_verdict_when_all_are_here();
}

void Transport::give_verdict_when_all_are_here() {
  if (std::all_of(peers_.begin(), peers_.end(), [](const Peer& peer) { return peer.has_said_hello; }))
    give_verdict();
}

/// The same for all: nobody starts where one may not.
void Transport::give_verdict() {
  if (!peer(0).identity.problem.empty()) return note_failure({peer(0).identity.problem, false, true});
  std::string refused;
  for (int i = 1; i < size_; ++i) {
    const Identity& other = peer(i).identity;
    std::string reason = other.problem.empty() ? "" : ": " + other.problem;
    if (reason.empty() && options_.must_agree) reason = difference(peer(0).identity, other);
    if (!reason.empty()) refused += (refused.empty() ? "" : "\n") + name(i) + reason;
  }
  if (!refused.empty()) return note_failure({refused, false, true});
  joined_ = true;
  control_all(Kind::Verdict, {});
}

bool Transport::try_join() {
  const std::lock_guard lock(mutex_);
  pull();
  tick();
  throw_if_failed();
  return joined_;
}

void Transport::join() {
  const std::chrono::nanoseconds begin = link_.now();
  while (!try_join()) link_.wait({link_.now() - begin, std::chrono::milliseconds(10)});
}

}  // namespace hiaton::net
