#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <utility>

#include "hiaton/error.h"
#include "hiaton/net.h"
#include "net/identity.h"
#include "net/launched.h"
#include "net/processes.h"

namespace hiaton::net {
namespace {

/// What another process asks for may come when nothing is to be done any more.
void drop_message(int, const Header&, std::span<const std::byte>) {}

Transport::Options options_of(const JoinOptions& options) {
  return {.longest_silence = options.longest_silence};
}

std::string hash_of_program(const JoinOptions& options) {
  return "the program " + hash_of(std::as_bytes(std::span(options.program)));
}

/// What a thread does as a process.
class ThreadWork : public Work {
 public:
  ThreadWork(std::string program, std::function<void(Transport&)> act)
      : program_(std::move(program)), act_(std::move(act)) {}
  std::string prepare(int /*self*/) override { return program_; }
  void work(Transport& transport) override { act_(transport); }

 private:
  std::string program_;
  std::function<void(Transport&)> act_;
};

}  // namespace

struct Processes::Parts {
  /// One of several threads, whose link belongs to somebody else.
  explicit Parts(Transport& its_transport) : transport(&its_transport) {}
  /// One that a launcher has started.
  Parts(const Launched& launched, const JoinOptions& options)
      : link(open_mpi_link(launched)), transport(&own_transport.emplace(*link, options_of(options))) {
    alive.emplace(*transport);
    try {
      transport->introduce(identity_for(hash_of_program(options)));
      transport->join();
    } catch (const ProcessFailure& failure) {
      leave_early(failure.is_reported_here() ? failure.what() : "");
      throw;
    } catch (...) {
      leave_early("");
      throw;
    }
  }

  /// Whether an exception goes through the block of the processes.
  bool is_unwinding() const { return std::uncaught_exceptions() != exceptions; }
  /// All processes end. What is thrown is caught by nobody any more, so this says it.
  void leave_early(const std::string& reason) {
    if (!reason.empty()) fmt::print(stderr, "error: {}\n", reason);
    alive.reset();
    abort_all(*link);
  }

  std::unique_ptr<Link> link;
  std::optional<Transport> own_transport;
  Transport* transport;
  std::optional<KeptAlive> alive;
  bool has_ended = false;
  const int exceptions = std::uncaught_exceptions();  ///< when it began
};

Processes::Processes(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Processes::Processes(Processes&& other) noexcept = default;

Processes::~Processes() {
  if (parts_ == nullptr || parts_->has_ended || parts_->link == nullptr) return;
  Transport& transport = *parts_->transport;
  const bool is_handled = !parts_->is_unwinding() && transport.has_thrown_failure();
  std::string reason;
  try {
    if (parts_->is_unwinding())
      transport.fail("the program has ended early: an exception has left the block of its processes");
    end();
    return;
  } catch (const ProcessFailure& failure) {
    if (failure.is_reported_here() && !is_handled) reason = failure.what();
  } catch (const std::exception& error) {
    reason = error.what();  // the others notice that this process says nothing any more
  }
  parts_->leave_early(reason);
}

void Processes::abandon() {
  if (parts_ == nullptr || std::exchange(parts_->has_ended, true)) return;
  parts_->transport->fail("the program has ended early");
  if (parts_->link != nullptr) parts_->leave_early("");
}

int Processes::self() const {
  return parts_ == nullptr ? 0 : parts_->transport->self();
}

int Processes::size() const {
  return parts_ == nullptr ? 1 : parts_->transport->size();
}

std::string Processes::host(int process) const {
  return parts_ == nullptr ? in_process_links(1)[0]->host(0) : parts_->transport->host(process);
}

Transport* Processes::transport() const {
  return parts_ == nullptr ? nullptr : parts_->transport;
}

void Processes::end() {
  if (parts_ == nullptr || parts_->has_ended) return;
  parts_->transport->end(drop_message);
  parts_->has_ended = true;
  parts_->alive.reset();
  if (parts_->link != nullptr) parts_->transport->close();
}

Processes join(const JoinOptions& options) {
  const std::optional<Launched> launched = find_launched();
  if (!launched) return Processes(nullptr);
  return Processes(std::make_unique<Processes::Parts>(*launched, options));
}

void run_in_threads(int count, const std::function<void(Processes&)>& act, const JoinOptions& options) {
  if (count < 1) throw ProgramError(fmt::format("expected one process or more, found {}", count));
  work_in_threads(count, options_of(options), [&] {
    return std::make_unique<ThreadWork>(hash_of_program(options), [&act](Transport& transport) {
      Processes processes(std::make_unique<Processes::Parts>(transport));
      act(processes);
      processes.end();
    });
  });
}

}  // namespace hiaton::net
