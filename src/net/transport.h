// Messages between the processes of a run.
//
// Messages to one process gather in a packet, which goes when it is full or flushed. Credits (credits.h)
// bound what is under way; what has none waits here. Nothing relies on the order of two packets. A process
// that is lost, or that fails, ends the work of all: from then on everything throws ProcessFailure.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hiaton/error.h"
#include "net/bytes.h"
#include "net/credits.h"
#include "net/ending.h"
#include "net/identity.h"
#include "net/link.h"
#include "net/silence.h"

namespace hiaton::net {

/// Stands before each message.
struct Header {
  uint32_t channel = 0;  ///< the channel of the receiving process that it is for
  uint32_t aux = 0;      ///< these two mean what the channel says
  uint64_t name = 0;
};

/// The bytes of a message, kept by its receiver, or by its sender, who has written them where they are sent
/// from.
class Payload {
 public:
  /// Where they begin in the packet of a message that has one of its own.
  static constexpr std::size_t kBegin = 40;

  Payload() = default;
  /// All of a packet from byte `begin` on.
  Payload(Packet packet, std::size_t begin) : packet_(std::move(packet)), begin_(begin) {}
  std::span<const std::byte> bytes() const { return packet_.bytes().subspan(begin_); }
  /// For the sender, until it is sent.
  std::span<std::byte> writable_bytes() { return {packet_.data() + begin_, packet_.size() - begin_}; }
  /// The packet, to be sent.
  Packet packet() const { return packet_.share(); }

 private:
  Packet packet_;
  std::size_t begin_ = 0;
};

/// Another process has failed or is lost. `what()` names it.
class ProcessFailure : public Error {
 public:
  ProcessFailure(const std::string& message, bool is_reported_here, bool is_lost, bool is_first_lost)
      : Error(message),
        is_reported_here_(is_reported_here),
        is_lost_(is_lost),
        is_first_lost_(is_first_lost) {}
  /// Whether this process, as the only one, tells the user.
  bool is_reported_here() const { return is_reported_here_; }
  /// The process may not be there any more, and cannot take part in a common end.
  bool is_lost() const { return is_lost_; }
  /// Process 0 is lost, so it ends nobody.
  bool is_first_lost() const { return is_first_lost_; }

 private:
  bool is_reported_here_;
  bool is_lost_;
  bool is_first_lost_;
};

/// May be used by several threads.
class Transport {
 public:
  struct Options {
    std::chrono::nanoseconds longest_silence = std::chrono::seconds(10);
    uint32_t window = 64;  ///< packets under way to one process
    /// Whether processes that differ (identity.h) are refused.
    bool must_agree = true;
    /// Whether this process is asked to end, which process 0 is then asked, too. Null: it never is.
    std::atomic<bool>* interrupted = nullptr;
    /// Says what is lost where this process, as the only one, is to report it and does not come to it.
    std::function<void(const std::string& message)> report{};
  };
  using OnMessage = std::function<void(int from, const Header& header, std::span<const std::byte> payload)>;
  using OnPayload = std::function<void(int from, const Header& header, Payload payload)>;

  Transport(Link& link, const Options& options);
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  ~Transport() = default;

  int self() const { return self_; }
  int size() const { return size_; }
  /// "process 1 (nodeb)".
  const std::string& name(int process) const { return peers_[static_cast<std::size_t>(process)].name; }
  std::string host(int process) const { return link_.host(process); }
  std::chrono::nanoseconds now() const { return link_.now(); }
  /// As Link::is_near.
  bool is_near(int process) const { return link_.is_near(process); }

  /// Says to the others what this process is. Once.
  void introduce(Identity identity);
  /// Returns whether all processes take part; messages may be sent from then on. Throws ProcessFailure where
  /// one may not.
  bool try_join();
  void join();
  /// What the others say of themselves; process 0 knows, once they have joined.
  const Identity& identity(int process) const { return peers_[static_cast<std::size_t>(process)].identity; }

  /// Sends to another process. Never waits. What cannot go yet is counted by waiting_bytes().
  void send(int to, const Header& header, std::span<const std::byte> payload);
  void send_written(int to, const Header& header, const ByteWriter& payload);
  /// Memory for the bytes of a message to another process, more than kPacketBytes of them, which are sent
  /// from there.
  Payload new_payload(int to, std::size_t bytes);
  /// Sends what has been written there. Once: from then on the bytes stay as they are as long as the memory
  /// is held, here or there.
  void send_payload(int to, const Header& header, const Payload& payload);
  /// Lets all go that has been sent.
  void flush();
  uint64_t waiting_bytes() const;
  /// Whether all that was sent has left this process. A large packet leaves only while this process polls or
  /// waits.
  bool has_sent_all();
  /// Hands on the messages of up to `most` packets that have arrived, and may leave later ones to the next
  /// poll, as always the answers to what `on_message` sends. Returns how many messages these were.
  std::size_t poll(const OnMessage& on_message, std::size_t most = 64);
  /// The same for a receiver that keeps the bytes: what came in a packet of its own is not copied.
  std::size_t poll_payloads(const OnPayload& on_payload);
  /// Gives back a message that was handed on while its receiver waited for another one: a later poll hands it
  /// on again. Not from within a poll.
  void put_back(int from, const Header& header, std::vector<std::byte> payload);
  /// Returns when something may have arrived, at the latest after `most`. Gives the processor away once
  /// nothing has come for a while.
  /// `packets`: so many at least are still to come before this thread has anything to do.
  void wait(std::chrono::nanoseconds most, std::size_t packets = 1) {
    wait(most, packets, std::chrono::nanoseconds(0));
  }
  /// The same of a thread that others of this process compute beside: gives the processor away at once.
  void sleep(std::chrono::nanoseconds most) { wait(most, 1, kIdleForLong); }
  /// Makes the wait() that goes on, or else the next one, return, from any thread. False: the link cannot do
  /// that, and no wait() sleeps until something arrives.
  bool wake();
  /// Takes note of what has arrived and tells the others that this process lives, while it computes. Returns
  /// after which time that is to be done again.
  std::chrono::nanoseconds keep_alive();
  /// Takes over what is to be done about a process that is lost, where what this process computes has not
  /// noticed for so long: from then on everything throws a failure that others report.
  std::optional<ProcessFailure> take_over_failure(std::chrono::nanoseconds after);

  /// The number of the next piece of work that all processes begin in the same order: what tells its messages
  /// from those of the ones before. Throws ProcessFailure, here or later, where another process ends without
  /// it.
  uint32_t next_run();

  /// To be called when this process has nothing to do, until it returns true: then no process has, no message
  /// is under way, and none may be sent any more.
  bool try_end();
  /// try_end() until all have ended; what arrives meanwhile is handed on, and may make more work.
  void end(const OnMessage& on_message);
  /// After the end: leaves the link, together with all others.
  void close();
  /// Whether an exception of another process's failure has been thrown here.
  bool has_thrown_failure() const;
  /// Tells all others that this process cannot go on.
  void fail(const std::string& message) noexcept;

 private:
  enum class Kind : uint8_t {
    Hello,
    Verdict,
    Messages,
    Credits,
    Leaving,
    Wave,
    Report,
    End,
    Interrupt,
    Failure
  };
  struct PacketHeader;
  struct Peer {
    Peer(uint32_t window, const Silence& heard) : credits(window), silence(heard) {}
    std::string name;
    std::string sender;  ///< "message from process 1 (nodeb)"
    Identity identity;
    bool has_said_hello = false;
    std::optional<uint32_t> runs;  ///< how many it has begun, once it wants to end
    Packet open;                   ///< gathers messages
    std::deque<Packet> ready;      ///< waits for credit
    Credits credits;
    Silence silence;
  };
  struct Message {
    int from;
    Header header;
    std::vector<std::byte> payload;
  };
  struct Failure {
    std::string message;
    bool is_lost;
    bool is_reported_here;
    bool is_first_lost = false;
    std::chrono::nanoseconds time{0};
    bool is_known = false;  ///< has been thrown, or taken over
  };

  Peer& peer(int process) { return peers_[static_cast<std::size_t>(process)]; }
  uint32_t weight_of(const Packet& packet) const;
  Packet new_packet(int to, std::size_t bytes);
  static void begin(Packet& packet, Kind kind);
  static void append(Packet& packet, const void* bytes, std::size_t size);
  void put(int to, Packet packet);
  void control(int to, Kind kind, const ByteWriter& body);
  void control_all(Kind kind, const ByteWriter& body);
  template <class Write>
  void send(int to, const Header& header, std::size_t size, const Write& write);
  void check_may_send(int to);
  void close_open(int to);
  void make_ready(int to, Packet packet);
  void send_ready(int to);
  void pull();
  void pull_next();
  void take(Arrival arrival);
  void take_control(int from, Kind kind, ByteReader& in);
  void hello(int from, ByteReader& in);
  void give_verdict_when_all_are_here();
  void give_verdict();
  void tick();
  bool is_watched(int process) const { return process != self_ && (self_ == 0 || process == 0); }
  void compare_runs(int process);
  void note_failure(const Failure& failure);
  void fail_all(const std::string& message);
  void throw_if_failed();
  static ProcessFailure as_error(const Failure& failure);
  void lose(int process, const std::string& reason);
  template <class HandOn>
  std::size_t poll_packets(std::size_t most, const HandOn& hand_on);
  template <class OnBytes>
  std::size_t for_each_message(std::span<const std::byte> packet, int from, const OnBytes& on_bytes);
  void wait(std::chrono::nanoseconds most, std::size_t packets, std::chrono::nanoseconds idle_before);
  /// After so long without an arrival no link looks any more before it sleeps.
  static constexpr std::chrono::hours kIdleForLong{1};
  bool has_messages() const { return !inbox_.empty() || !put_back_.empty(); }
  template <class HandOn>
  std::size_t hand_on_again(const HandOn& hand_on);
  void want_end();
  void pass_interrupt_on();
  void advance_ending();
  bool finish_wave(const EndingReport& report);

  mutable std::mutex mutex_;
  Link& link_;
  int self_;
  int size_;
  Options options_;
  std::vector<Peer> peers_;
  std::deque<Arrival> inbox_;  ///< packets of messages
  std::vector<Message> put_back_;
  std::atomic<bool> has_put_back_{false};  ///< a poll asks without the lock
  std::vector<Packet> spare_;
  std::optional<Failure> failure_;
  bool joined_ = false;
  bool wants_end_ = false;
  bool ended_ = false;
  bool has_passed_interrupt_on_ = false;
  EndingWaves waves_;
  EndingAnswers answers_;
  uint64_t sent_ = 0;
  uint64_t handled_ = 0;
  std::atomic<uint64_t> waiting_bytes_{0};  ///< bytes of packets that wait for credit
  uint32_t runs_ = 0;
  std::atomic<bool> is_woken_{false};
  std::chrono::nanoseconds looks_after_{0};  ///< the latest result of keep_alive()
  std::chrono::nanoseconds looked_;          ///< when tick() was called last
};

/// Messages that have come while their receiver waited for others.
class HeldMessages {
 public:
  void hold(int from, const Header& header, std::span<const std::byte> payload) {
    messages_.push_back({from, header, {payload.begin(), payload.end()}});
  }
  /// As Transport::put_back, all of them.
  void put_back(Transport& transport) {
    for (Message& message : messages_)
      transport.put_back(message.from, message.header, std::move(message.payload));
    messages_.clear();
  }

 private:
  struct Message {
    int from;
    Header header;
    std::vector<std::byte> payload;
  };
  std::vector<Message> messages_;
};

/// Calls keep_alive() while it lives, from a thread of its own.
class KeptAlive {
 public:
  /// `give_up` ends this process: it is called where that has not taken note of a lost one.
  using GiveUp = std::function<void(const ProcessFailure&)>;
  explicit KeptAlive(Transport& transport, GiveUp give_up = {});
  ~KeptAlive();
  KeptAlive(const KeptAlive&) = delete;
  KeptAlive& operator=(const KeptAlive&) = delete;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace hiaton::net
