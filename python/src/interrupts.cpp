// Runs that Ctrl-C ends.
#include <signal.h>

#include <optional>

#include "programs.h"

namespace hiaton::python {
namespace {

static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<void (*)(int)>::is_always_lock_free);

/// What the handler reads: of the one run of the main thread.
std::atomic<std::atomic<bool>*> cancelled{nullptr};
std::atomic<void (*)(int)> handler_of_python{nullptr};

void handle(int signal) {
  if (std::atomic<bool>* cancel = cancelled.load()) cancel->store(true);
  if (void (*handler)(int) = handler_of_python.load()) handler(signal);
}

/// While it lives, Ctrl-C also sets `cancel`, if Python has a handler for it and this is the thread that runs
/// it.
class Watch {
 public:
  explicit Watch(std::atomic<bool>& cancel) {
    if (cancelled.load() != nullptr) return;  // a run within a run cannot be, but for a handler of a signal
    struct sigaction found {};
    if (sigaction(SIGINT, nullptr, &found) != 0 || (found.sa_flags & SA_SIGINFO) != 0) return;
    if (found.sa_handler == SIG_DFL || found.sa_handler == SIG_IGN) return;
    before_ = found;
    handler_of_python.store(found.sa_handler);
    cancelled.store(&cancel);
    struct sigaction ours = found;
    ours.sa_handler = handle;
    active_ = sigaction(SIGINT, &ours, nullptr) == 0;
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() {
    if (!active_) return;
    sigaction(SIGINT, &before_, nullptr);
    cancelled.store(nullptr);
  }

 private:
  bool active_ = false;
  struct sigaction before_ {};
};

/// By the identity that Python had in its main thread when the module was imported there.
bool runs_handlers() {
  static const unsigned long main_thread = [] {
    const nb::object thread = nb::module_::import_("threading").attr("main_thread")();
    return nb::cast<unsigned long>(thread.attr("ident"));
  }();
  return PyThread_get_thread_ident() == main_thread;
}

}  // namespace

void run_interruptibly(const std::function<void(const std::atomic<bool>& cancel)>& run) {
  const bool watched = runs_handlers();
  while (true) {
    std::atomic<bool> cancel{false};
    std::exception_ptr thrown;
    {
      std::optional<Watch> watch;
      if (watched) watch.emplace(cancel);
      const nb::gil_scoped_release released;
      try {
        run(cancel);
      } catch (...) {
        thrown = std::current_exception();
      }
    }
    if (PyErr_CheckSignals() != 0) nb::raise_python_error();
    if (!thrown) return;
    try {
      std::rethrow_exception(thrown);
    } catch (const RunError& error) {
      if (error.fault() != Fault::Interrupted || !cancel.load()) throw;
    }
  }
}

}  // namespace hiaton::python
