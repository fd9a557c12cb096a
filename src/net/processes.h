// A run's work in each of its processes: they join, work, and end together. They may be threads of this one:
// to try, and to test, what runs on several machines.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/launched.h"
#include "net/link.h"
#include "net/transport.h"

namespace hiaton::net {

/// The host name, for people.
std::string name_of_this_machine();

/// One link for each of `processes`, by number. They may be used by different threads, and outlive each
/// other.
std::vector<std::unique_ptr<Link>> in_process_links(int processes);

/// What one process does. The objects of several processes are used by different threads.
class Work {
 public:
  virtual ~Work() = default;
  /// Reads what it is to work on and says what that is: Identity::program. What it throws ends all.
  virtual std::string prepare(int self) = 0;
  /// Works, once all have prepared. Every message that it is sent must have been handed to it, or be handed
  /// to it by Transport::end, when it returns.
  virtual void work(Transport& transport) = 0;
};
using MakeWork = std::function<std::unique_ptr<Work>()>;

/// Works in `count` processes that are threads of this one; the calling thread is process 0. Throws what
/// process 0 throws: ProcessFailure, where another one has failed.
void work_in_threads(int count, const Transport::Options& options, const MakeWork& make_work);

/// The same over these links, by number.
void work_in_threads(const std::vector<std::unique_ptr<Link>>& links, const Transport::Options& options,
                     const MakeWork& make_work);

/// Ends all processes of a launcher, once process 0, where that is not lost, has had the time to report what
/// went wrong. `status`: the exit status of the launcher.
void abort_all(Link& link, bool is_first_lost = false, int status = 1);

/// One of the processes that a launcher has started.
class LaunchedProcess {
 public:
  explicit LaunchedProcess(const Launched& launched) : link_(open_mpi_link(launched)) {}
  LaunchedProcess(const LaunchedProcess&) = delete;
  LaunchedProcess& operator=(const LaunchedProcess&) = delete;
  /// Ends all processes, where the work has not come to its end: so an error must have been reported before.
  ~LaunchedProcess();
  /// The exit status that the launcher has then.
  void set_status(int status) { status_ = status; }

  bool is_first() const { return link_->self() == 0; }
  /// Throws what the work throws, and ProcessFailure.
  void work(const Transport::Options& options, const MakeWork& make_work);

 private:
  std::unique_ptr<Link> link_;
  bool is_closed_ = false;
  bool is_first_lost_ = false;
  int status_ = 1;
};

}  // namespace hiaton::net
