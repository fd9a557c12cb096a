#include "process.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "net/launched.h"

namespace hiaton::cli {

void prepare_process() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (fcntl(stream, F_GETFD) == -1) open("/", O_RDONLY | O_DIRECTORY);
  }
  std::signal(SIGXFSZ, SIG_IGN);
  if (!net::find_launched()) return;
  sigset_t interrupts;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGINT);
  sigaddset(&interrupts, SIGTERM);
  sigprocmask(SIG_UNBLOCK, &interrupts, nullptr);
}

}  // namespace hiaton::cli
