#include "passed_output.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace hiaton::cli {
namespace {

/// An address without a file: the name ends with the socket. Returns its length, 0 where the name is too
/// long.
socklen_t address_of(std::string_view name, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  if (name.empty() || name.size() + 1 > sizeof address.sun_path) return 0;
  std::copy(name.begin(), name.end(), address.sun_path + 1);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

bool is_same_user(int socket) {
  ucred other{};
  socklen_t size = sizeof other;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &size) == 0 && other.uid == geteuid();
}

/// A message of one byte that carries a file descriptor.
class DescriptorMessage {
 public:
  DescriptorMessage() {
    message_.msg_iov = &part_;
    message_.msg_iovlen = 1;
    message_.msg_control = control_;
    message_.msg_controllen = sizeof control_;
  }

  void send(int socket, int descriptor) {
    cmsghdr* header = CMSG_FIRSTHDR(&message_);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    [[maybe_unused]] const ssize_t sent = ::sendmsg(socket, &message_, MSG_NOSIGNAL);
  }

  /// -1 where none has come.
  int receive(int socket) {
    int descriptor = -1;
    if (::recvmsg(socket, &message_, MSG_CMSG_CLOEXEC) <= 0) return descriptor;
    const cmsghdr* header = CMSG_FIRSTHDR(&message_);
    if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return descriptor;
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    return descriptor;
  }

 private:
  char byte_ = 0;
  iovec part_{&byte_, 1};
  alignas(cmsghdr) char control_[CMSG_SPACE(sizeof(int))]{};
  msghdr message_{};
};

}  // namespace

OfferedOutput::OfferedOutput() {
  uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) return;
  const std::string name = fmt::format("hiaton-{}-{:016x}", getpid(), number);
  sockaddr_un address;
  const socklen_t length = address_of(name, address);
  socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0 || ::bind(socket_, reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
      ::listen(socket_, 1) != 0) {
    return;
  }
  name_ = name;
  server_ = std::thread([this] { serve(); });
}

OfferedOutput::~OfferedOutput() {
  if (server_.joinable()) {
    ::shutdown(socket_, SHUT_RDWR);  // ends accept()
    server_.join();
  }
  if (socket_ >= 0) ::close(socket_);
}

void OfferedOutput::serve() const {
  // Signals are for the thread that waits for the launcher.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  for (;;) {
    const int taker = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (taker < 0 && errno != EINTR && errno != ECONNABORTED) return;
    if (taker < 0) continue;
    if (is_same_user(taker)) DescriptorMessage().send(taker, STDOUT_FILENO);
    ::close(taker);
  }
}

void take_offered_output() {
  const char* name = std::getenv(OfferedOutput::kVariable);
  if (name == nullptr) return;
  sockaddr_un address;
  const socklen_t length = address_of(name, address);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return;
  if (length > 0 && ::connect(socket, reinterpret_cast<const sockaddr*>(&address), length) == 0 &&
      is_same_user(socket)) {
    const int output = DescriptorMessage().receive(socket);
    if (output >= 0) {
      dup2(output, STDOUT_FILENO);
      ::close(output);
      std::signal(SIGPIPE, SIG_IGN);  // whoever reads may have gone: writing says so
    }
  }
  ::close(socket);
}

}  // namespace hiaton::cli
