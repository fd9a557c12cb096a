#include "net/transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace hiaton::net {

/// Stands before each packet.
struct Transport::PacketHeader {
  static constexpr uint32_t kMagic = 0x4E746948;  ///< "HitN" where the lowest byte comes first
  uint32_t magic = kMagic;
  uint16_t version = kWireVersion;
  uint8_t kind = 0;
  uint8_t unused = 0;
  uint32_t credits = 0;  ///< returned to the receiver
  uint32_t unused_too = 0;
};

namespace {

struct MessageHeader {
  Header header;
  uint64_t bytes;
};
static_assert(sizeof(MessageHeader) == 24);

constexpr std::size_t kSpares = 64;
constexpr uint32_t kSwappedMagic = 0x4869744E;

}  // namespace

Transport::Transport(Link& link, const Options& options)
    : link_(link),
      self_(link.self()),
      size_(link.size()),
      options_(options),
      waves_(size_),
      looked_(link.now()) {
  const Silence silence(options.longest_silence, looked_);
  for (int i = 0; i < size_; ++i) {
    Peer& peer = peers_.emplace_back(options.window, silence);
    peer.name = fmt::format("process {} ({})", i, link_.host(i));
    peer.sender = "message from " + peer.name;
  }
}

uint32_t Transport::weight_of(const Packet& packet) const {
  return packet.size() <= kPacketBytes ? 1 : std::max(1u, options_.window / 8);
}

Packet Transport::new_packet(int to, std::size_t bytes) {
  if (bytes > kPacketBytes) return link_.large_packet(to, bytes);
  if (spare_.empty()) return Packet(kPacketBytes);
  Packet packet = std::move(spare_.back());
  spare_.pop_back();
  return packet;
}

void Transport::append(Packet& packet, const void* bytes, std::size_t size) {
  if (size > 0) std::memcpy(packet.data() + packet.size(), bytes, size);
  packet.resize(packet.size() + size);
}

void Transport::begin(Packet& packet, Kind kind) {
  PacketHeader header;
  header.kind = static_cast<uint8_t>(kind);
  packet.resize(0);
  append(packet, &header, sizeof header);
}

/// Adds the credits that are owed to the receiver.
void Transport::put(int to, Packet packet) {
  Peer& receiver = peer(to);
  const uint32_t credits = receiver.credits.take_owed();
  std::memcpy(packet.data() + offsetof(PacketHeader, credits), &credits, sizeof credits);
  receiver.silence.sent(link_.now());
  try {
    link_.send(to, std::move(packet));
  } catch (const LinkError& error) {
    lose(error.process() < 0 ? to : error.process(), error.what());
  }
}

void Transport::control(int to, Kind kind, const ByteWriter& body) {
  Packet packet = new_packet(to, sizeof(PacketHeader) + body.bytes().size());
  begin(packet, kind);
  append(packet, body.bytes().data(), body.bytes().size());
  put(to, std::move(packet));
}

void Transport::control_all(Kind kind, const ByteWriter& body) {
  for (int i = 0; i < size_; ++i) {
    if (i != self_) control(i, kind, body);
  }
}

void Transport::check_may_send(int to) {
  throw_if_failed();
  HIATON_CHECK(to != self_ && to >= 0 && to < size_ && joined_ && !ended_);
}

/// Calls write(to), which writes `size` bytes there.
template <class Write>
void Transport::send(int to, const Header& header, std::size_t size, const Write& write) {
  const std::lock_guard lock(mutex_);
  check_may_send(to);
  Peer& receiver = peer(to);
  const MessageHeader message{header, size};
  const std::size_t bytes = sizeof message + size;
  if (receiver.open.size() + bytes > receiver.open.capacity()) {
    close_open(to);
    receiver.open = new_packet(to, sizeof(PacketHeader) + bytes);
    begin(receiver.open, Kind::Messages);
  }
  append(receiver.open, &message, sizeof message);
  write(receiver.open.data() + receiver.open.size());
  receiver.open.resize(receiver.open.size() + size);
  ++sent_;
}

void Transport::send(int to, const Header& header, std::span<const std::byte> payload) {
  send(to, header, payload.size(), [payload](std::byte* bytes) {
    if (!payload.empty()) std::memcpy(bytes, payload.data(), payload.size());
  });
}

void Transport::send_written(int to, const Header& header, const ByteWriter& payload) {
  send(to, header, payload.size(), [&payload](std::byte* bytes) { payload.copy_to(bytes); });
}

Payload Transport::new_payload(int to, std::size_t bytes) {
  HIATON_CHECK(bytes > kPacketBytes);
  const std::lock_guard lock(mutex_);
  Packet packet = new_packet(to, Payload::kBegin + bytes);
  packet.resize(Payload::kBegin + bytes);
  return {std::move(packet), Payload::kBegin};
}

void Transport::send_payload(int to, const Header& header, const Payload& payload) {
  static_assert(Payload::kBegin == sizeof(PacketHeader) + sizeof(MessageHeader));
  const std::lock_guard lock(mutex_);
  check_may_send(to);
  Packet packet = payload.packet();
  const std::size_t size = packet.size();
  begin(packet, Kind::Messages);
  const MessageHeader message{header, size - Payload::kBegin};
  append(packet, &message, sizeof message);
  packet.resize(size);
  make_ready(to, std::move(packet));
  ++sent_;
}

void Transport::close_open(int to) {
  Peer& receiver = peer(to);
  if (receiver.open.size() > 0) make_ready(to, std::exchange(receiver.open, Packet()));
}

void Transport::make_ready(int to, Packet packet) {
  waiting_bytes_ += packet.size();
  peer(to).ready.push_back(std::move(packet));
  send_ready(to);
}

void Transport::send_ready(int to) {
  Peer& receiver = peer(to);
  while (!receiver.ready.empty() && !failure_) {
    const uint32_t weight = weight_of(receiver.ready.front());
    if (!receiver.credits.may_send(weight)) return;
    receiver.credits.sent(weight);
    Packet packet = std::move(receiver.ready.front());
    receiver.ready.pop_front();
    waiting_bytes_ -= packet.size();
    put(to, std::move(packet));
  }
}

void Transport::flush() {
  const std::lock_guard lock(mutex_);
  for (int i = 0; i < size_; ++i) close_open(i);
}

uint64_t Transport::waiting_bytes() const {
  return waiting_bytes_.load(std::memory_order_relaxed);
}

bool Transport::has_sent_all() {
  const std::lock_guard lock(mutex_);
  throw_if_failed();
  return waiting_bytes_ == 0 && link_.all_sent();
}

/// Takes all that has arrived: packets of messages wait in the inbox.
void Transport::pull() {
  Arrival arrival;
  try {
    while (link_.receive(arrival)) take(std::exchange(arrival, Arrival()));
  } catch (const LinkError& error) {
    lose(error.process(), error.what());
  }
}

/// The same, but no further than a packet of messages that is not full: it was flushed, so little can stand
/// behind it, and to look once more, and in vain, would hold it up.
void Transport::pull_next() {
  Arrival arrival;
  try {
    for (bool is_last = false; !is_last && link_.receive(arrival);) {
      const std::size_t known = inbox_.size();
      const bool is_full = arrival.packet.size() > kPacketBytes / 2;
      take(std::exchange(arrival, Arrival()));
      is_last = inbox_.size() > known && !is_full;
    }
  } catch (const LinkError& error) {
    lose(error.process(), error.what());
  }
}

void Transport::take(Arrival arrival) {
  HIATON_CHECK(arrival.from >= 0 && arrival.from < size_ && arrival.from != self_);
  Peer& sender = peer(arrival.from);
  sender.silence.heard(link_.now());
  ByteReader in(arrival.packet.bytes(), sender.sender);
  PacketHeader header;
  std::memcpy(&header, in.take(sizeof header), sizeof header);
  if (header.magic != PacketHeader::kMagic) {
    in.fail(header.magic == kSwappedMagic ? "expected the byte order of this machine, found the other one"
                                          : "expected a packet of Hiaton, found other bytes");
  }
  if (header.version != kWireVersion)
    in.fail(fmt::format("expected wire version {}, found {}", kWireVersion, header.version));
  if (!sender.credits.returned(header.credits))
    in.fail(fmt::format("expected credits for packets that were sent, found {}", header.credits));
  if (header.kind > static_cast<uint8_t>(Kind::Failure))
    in.fail(fmt::format("expected a kind of packet, found number {}", header.kind));
  const int from = arrival.from;
  if (static_cast<Kind>(header.kind) == Kind::Messages) {
    inbox_.push_back(std::move(arrival));
  } else {
    take_control(from, static_cast<Kind>(header.kind), in);
    in.require_end();
  }
  if (header.credits > 0) send_ready(from);
}

void Transport::take_control(int from, Kind kind, ByteReader& in) {
  switch (kind) {
    case Kind::Hello:
      return hello(from, in);
    case Kind::Verdict:
      joined_ = true;
      return;
    case Kind::Wave:
      answers_.asked(in.number<uint32_t>());
      [[fallthrough]];
    case Kind::Leaving:
      peer(from).runs = in.number<uint32_t>();
      return compare_runs(from);
    case Kind::Report: {
      EndingReport report;
      report.wave = in.number<uint32_t>();
      report.sent = in.number<uint64_t>();
      report.handled = in.number<uint64_t>();
      if (!waves_.is_expected(report)) in.fail("expected a report that was asked for, found another");
      finish_wave(report);
      return;
    }
    case Kind::End:
      ended_ = true;
      return;
    case Kind::Interrupt:
      if (options_.interrupted != nullptr) options_.interrupted->store(true);
      return;
    case Kind::Failure: {
      const bool is_lost = in.number<uint8_t>() != 0;
      note_failure({in.text(), is_lost, self_ == 0});
      return;
    }
    case Kind::Messages:
    case Kind::Credits:
      return;
  }
}

/// Returns credits, tells who watches this process that it lives, and looks for who says nothing.
void Transport::tick() {
  const std::chrono::nanoseconds now = link_.now();
  const bool was_asleep = Silence::was_asleep(options_.longest_silence, looked_, now);
  looked_ = now;
  for (int i = 0; i < size_; ++i) {
    if (i == self_) continue;
    Peer& other = peer(i);
    if (was_asleep) other.silence.heard(now);
    const bool speaks = is_watched(i) && other.silence.must_send(now);
    if (other.credits.must_return() || speaks) control(i, Kind::Credits, {});
    if (is_watched(i) && !ended_ && other.silence.is_lost(now)) {
      const double seconds = std::chrono::duration<double>(other.silence.lasts(now)).count();
      lose(i, fmt::format("nothing was heard of it for {:.1f} s", seconds));
    }
  }
}

/// Where large packets move only while both sides call the link, signs of life alone would be too rare as
/// long as something moves. Else each look costs what is computed meanwhile, and more where it brings the
/// scheduler to move what computes to another core.
std::chrono::nanoseconds Transport::keep_alive() {
  constexpr std::chrono::milliseconds kShortest(1);
  constexpr std::chrono::milliseconds kLongest(16);
  const std::chrono::nanoseconds longest =
      std::clamp<std::chrono::nanoseconds>(options_.longest_silence / 20, kShortest, kLongest);
  const std::lock_guard lock(mutex_);
  if (failure_ || ended_) return longest;
  const std::size_t known = inbox_.size();
  const bool had_joined = joined_;
  pull();
  tick();
  pass_interrupt_on();
  const bool has_arrived = inbox_.size() > known || joined_ != had_joined;
  if (has_arrived) wake();  // who waits for the link would not find it there any more
  looks_after_ = (has_arrived && link_.moves_in_pieces()) || !link_.all_sent()
                     ? kShortest
                     : std::clamp<std::chrono::nanoseconds>(2 * looks_after_, kShortest, longest);
  return looks_after_;
}

bool Transport::wake() {
  is_woken_.store(true);
  return link_.wake();
}

/// Calls hand_on(arrival), which returns how many messages it has found, for packets that have arrived. Not
/// for those that come meanwhile, as answers to what it sends.
template <class HandOn>
std::size_t Transport::poll_packets(std::size_t most, const HandOn& hand_on) {
  std::unique_lock lock(mutex_);
  throw_if_failed();
  pull_next();
  tick();
  throw_if_failed();
  if (!joined_) return 0;  // another process may know before this one that all take part
  std::size_t count = 0;
  for (std::size_t left = std::min(most, inbox_.size()); left > 0 && !inbox_.empty(); --left) {
    Arrival arrival = std::move(inbox_.front());
    inbox_.pop_front();
    lock.unlock();
    const uint32_t weight = weight_of(arrival.packet);
    const std::size_t messages = hand_on(arrival);
    lock.lock();
    count += messages;
    handled_ += messages;
    peer(arrival.from).credits.handled(weight);
    if (arrival.packet.capacity() == kPacketBytes && spare_.size() < kSpares)
      spare_.push_back(std::move(arrival.packet));
  }
  return count;
}

void Transport::put_back(int from, const Header& header, std::vector<std::byte> payload) {
  const std::lock_guard lock(mutex_);
  put_back_.push_back({from, header, std::move(payload)});
  has_put_back_.store(true);
  --handled_;
}

/// Calls hand_on(message) for each message that was given back, and returns how many these are.
template <class HandOn>
std::size_t Transport::hand_on_again(const HandOn& hand_on) {
  if (!has_put_back_.load()) return 0;
  std::vector<Message> messages;
  {
    const std::lock_guard lock(mutex_);
    messages.swap(put_back_);
    has_put_back_.store(false);
  }
  for (const Message& message : messages) {
    hand_on(message);
    const std::lock_guard lock(mutex_);
    ++handled_;
  }
  return messages.size();
}

/// Calls on_bytes(header, payload) for each message of a packet, and returns how many there are.
template <class OnBytes>
std::size_t Transport::for_each_message(std::span<const std::byte> packet, int from,
                                        const OnBytes& on_bytes) {
  ByteReader in(packet, peer(from).sender);
  in.take(sizeof(PacketHeader));
  std::size_t count = 0;
  for (; in.left() > 0; ++count) {
    MessageHeader message{};
    std::memcpy(&message, in.take(sizeof message), sizeof message);
    if (message.bytes > in.left())
      in.fail(fmt::format("expected a message of {} bytes, found {}", message.bytes, in.left()));
    const std::byte* payload = in.take(message.bytes);
    on_bytes(message.header, std::span(payload, static_cast<std::size_t>(message.bytes)));
  }
  return count;
}

std::size_t Transport::poll(const OnMessage& on_message, std::size_t most) {
  const std::size_t again = hand_on_again(
      [&](const Message& message) { on_message(message.from, message.header, message.payload); });
  return again + poll_packets(most, [&](const Arrival& arrival) {
           return for_each_message(
               arrival.packet.bytes(), arrival.from,
               [&](const Header& header, auto payload) { on_message(arrival.from, header, payload); });
         });
}

std::size_t Transport::poll_payloads(const OnPayload& on_payload) {
  constexpr std::size_t kMost = 64;
  const auto hand_on_copy = [&](int from, const Header& header, std::span<const std::byte> payload) {
    Packet own(payload.size());
    append(own, payload.data(), payload.size());
    on_payload(from, header, Payload(std::move(own), 0));
  };
  const std::size_t again = hand_on_again(
      [&](const Message& message) { hand_on_copy(message.from, message.header, message.payload); });
  return again + poll_packets(kMost, [&](Arrival& arrival) {
           const std::span<const std::byte> all = arrival.packet.bytes();
           return for_each_message(all, arrival.from,
                                   [&](const Header& header, std::span<const std::byte> payload) {
                                     if (Payload::kBegin + payload.size() == all.size()) {
                                       return on_payload(arrival.from, header,
                                                         Payload(std::move(arrival.packet), Payload::kBegin));
                                     }
                                     hand_on_copy(arrival.from, header, payload);
                                   });
         });
}

/// As if nothing had come for `idle_before`.
void Transport::wait(std::chrono::nanoseconds most, std::size_t packets,
                     std::chrono::nanoseconds idle_before) {
  const std::chrono::nanoseconds begin = link_.now();
  for (;;) {
    const std::chrono::nanoseconds idle = link_.now() - begin;
    {
      const std::lock_guard lock(mutex_);
      pull();
      tick();
      if (is_woken_.exchange(false) || has_messages() || failure_ || ended_ || idle >= most) return;
    }
    link_.wait({idle_before + idle, std::min(most - idle, options_.longest_silence / 5),
                static_cast<uint32_t>(packets)});
  }
}

}  // namespace hiaton::net
