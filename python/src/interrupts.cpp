// Runs that Ctrl-C ends.
#include <signal.h>

#include <optional>

#include "programs.h"

namespace hiaton::python {
namespace {

static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<void (*)(int)>::is_always_lock_free);

using Handler = void (*)(int);

/// What the handler reads: of the one run of the main thread.
std::atomic<std::atomic<bool>*> cancelled{nullptr};
/// The handler that was there at the first run, which is that of Python, and the one that ours calls.
std::atomic<Handler> first_handler{nullptr};
std::atomic<Handler> next_handler{nullptr};
std::atomic<bool> is_handling{false};
/// How many threads write what a run set, and whether Ctrl-C came meanwhile and waits for the end of that.
std::atomic<int> writers{0};
std::atomic<bool> waiting{false};

void handle(int signal) {
  // What a run set is written as a whole. A second Ctrl-C does not wait: to print may block.
  if (writers.load() > 0 && !waiting.exchange(true)) return;
  if (std::atomic<bool>* cancel = cancelled.load()) cancel->store(true);
  // A handler of somebody else may call the one that it found, and that may be this one.
  const bool is_called_by_next = is_handling.exchange(true);
  if (Handler next = is_called_by_next ? first_handler.load() : next_handler.load()) next(signal);
  if (!is_called_by_next) is_handling.store(false);
}

/// While it lives, Ctrl-C also sets `cancel`, if there is a handler for it and this is the thread that runs
/// those of Python. Over Python's own handler ours stays for later runs: then a run makes one call of the
/// system.
class Watch {
 public:
  explicit Watch(std::atomic<bool>& cancel) {
    if (cancelled.load() != nullptr) return;  // a run within a run cannot be, but for a handler of a signal
    struct sigaction found {};
    if (sigaction(SIGINT, nullptr, &found) != 0 || (found.sa_flags & SA_SIGINFO) != 0) return;
    if (found.sa_handler == SIG_DFL || found.sa_handler == SIG_IGN) return;
    if (found.sa_handler != handle && !put_over(found)) return;
    cancelled.store(&cancel);
    active_ = true;
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() {
    if (!active_) return;
    cancelled.store(nullptr);
    if (!replaced_) return;
    sigaction(SIGINT, &*replaced_, nullptr);
    next_handler.store(first_handler.load());
  }

 private:
  bool put_over(const struct sigaction& found) {
    if (first_handler.load() == nullptr) first_handler.store(found.sa_handler);
    next_handler.store(found.sa_handler);
    if (found.sa_handler != first_handler.load()) replaced_ = found;
    struct sigaction ours = found;
    ours.sa_handler = handle;
    return sigaction(SIGINT, &ours, nullptr) == 0;
  }

  bool active_ = false;
  std::optional<struct sigaction> replaced_;  ///< to be put back
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
      const Running running;
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

void begin_writing() {
  writers.fetch_add(1);
  if (PyErr_CheckSignals() == 0) return;
  writers.fetch_sub(1);
  nb::raise_python_error();
}

void end_writing() {
  if (writers.fetch_sub(1) > 1 || !waiting.exchange(false)) return;
  PyErr_SetInterruptEx(SIGINT);
  if (PyErr_CheckSignals() != 0) nb::raise_python_error();
}

void bind_interrupts(nb::module_& m) {
  m.def("begin_writing", &begin_writing,
        "From here to `end_writing`, Ctrl-C waits. Raises what an earlier one raises.");
  m.def("end_writing", &end_writing, "Raises what Ctrl-C raises that came meanwhile.");
}

}  // namespace hiaton::python
