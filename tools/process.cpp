#include "process.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>

namespace hiaton::cli {

void prepare_process() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (fcntl(stream, F_GETFD) == -1) open("/", O_RDONLY | O_DIRECTORY);
  }
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace hiaton::cli
