#include "net/processes.h"

#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "base/borrowed_pool.h"
#include "hiaton/error.h"

namespace hiaton::net {
namespace {

/// How long the others wait for process 0, which reports what went wrong and then ends all.
constexpr std::chrono::seconds kLastWait(5);
/// How long a launcher gets to forward what process 0 has printed: MPICH's drops what it has not read by
/// then.
constexpr std::chrono::milliseconds kForwarding(250);

void refuse_message(int /*from*/, const Header& header, std::span<const std::byte> /*payload*/) {
  throw InternalError("internal error: a message on channel " + std::to_string(header.channel) +
                      " that nobody waits for; please report it");
}

/// Throws what prepare() has thrown, once the others know.
void join(Transport& transport, Work& work) {
  std::exception_ptr problem;
  std::string program;
  std::string text;
  try {
    program = work.prepare(transport.self());
  } catch (const std::exception& error) {
    problem = std::current_exception();
    text = error.what();
  }
  Identity identity = identity_for(std::move(program));
  identity.problem = text;
  transport.introduce(std::move(identity));
  try {
    transport.join();
  } catch (const ProcessFailure&) {
    if (problem != nullptr && transport.self() == 0) std::rethrow_exception(problem);
    throw;
  }
}

void work_in(Link& link, const Transport::Options& options, Work& work, KeptAlive::GiveUp give_up = {}) {
  Transport transport(link, options);
  {
    const KeptAlive alive(transport, std::move(give_up));
    try {
      join(transport, work);
      work.work(transport);
      transport.end(refuse_message);
    } catch (const std::exception& error) {
      transport.fail(error.what());
      throw;
    }
  }
  transport.close();
}

}  // namespace

void work_in_threads(int count, const Transport::Options& options, const MakeWork& make_work) {
  work_in_threads(in_process_links(count), options, make_work);
}

void work_in_threads(const std::vector<std::unique_ptr<Link>>& links, const Transport::Options& options,
                     const MakeWork& make_work) {
  Helpers others;
  others.begin(nullptr, links.size() - 1, [&](std::size_t i) {
    try {
      const std::unique_ptr<Work> work = make_work();
      work_in(*links[i + 1], options, *work);
    } catch (const std::exception&) {
      // Process 0 has been told.
    }
  });
  const std::unique_ptr<Work> work = make_work();
  work_in(*links[0], options, *work);
}

void LaunchedProcess::work(const Transport::Options& options, const MakeWork& make_work) {
  const std::unique_ptr<Work> work = make_work();
  const auto give_up = [this, &options](const ProcessFailure& failure) {
    if (failure.is_reported_here() && options.report) options.report(failure.what());
    abort_all(*link_, failure.is_first_lost());
  };
  try {
    work_in(*link_, options, *work, give_up);
  } catch (const ProcessFailure& failure) {
    is_first_lost_ = failure.is_first_lost();
    throw;
  }
  is_closed_ = true;
}

void abort_all(Link& link, bool is_first_lost, int status) {
  std::this_thread::sleep_for(link.self() == 0 || is_first_lost ? kForwarding : kLastWait);
  link.abort(status);
}

LaunchedProcess::~LaunchedProcess() {
  if (!is_closed_) abort_all(*link_, is_first_lost_, status_);
}

}  // namespace hiaton::net
