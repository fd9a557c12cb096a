#include "output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>

#include "hiaton/error.h"

namespace hiaton::cli {
namespace {

/// Closed outputs and full disks show only when the buffer is flushed.
bool write_all(std::FILE* file, std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
}

}  // namespace

void write_to_stdout(std::string_view text) {
  if (!write_all(stdout, text)) {
    throw SystemError(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
  }
}

void write_to(const std::string& path, std::string_view text) {
  if (path.empty()) return write_to_stdout(text);
  std::FILE* file = std::fopen(path.c_str(), "wb");
  const bool written = file != nullptr && write_all(file, text);
  const int reason = errno;
  const bool closed = file == nullptr || std::fclose(file) == 0;
  if (!written || !closed) {
    throw SystemError(fmt::format("cannot write '{}': {}", path, std::strerror(written ? errno : reason)));
  }
}

void require_writable(const std::string& path) {
  const std::filesystem::path file(path);
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  const bool exists = access(path.c_str(), F_OK) == 0;
  if (std::filesystem::is_directory(file))
    errno = EISDIR;
  else if (access(exists ? path.c_str() : folder.c_str(), W_OK) == 0)
    return;
  throw SystemError(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
}

int report_current_exception() {
  try {
    throw;
  } catch (const UsageError& error) {
    complain(error.what());
    return kUsage;
  } catch (const RunError& error) {
    complain(error.what());
    return error.fault() == Fault::Interrupted ? kInterrupted : kError;
  } catch (const std::bad_alloc&) {
    complain("out of memory");
    return kError;
  } catch (const std::exception& error) {
    complain(error.what());
    return kError;
  }
}

void note(const std::string& message) {
  fmt::print(stderr, "note: {}\n", message);
}

void complain(const std::string& message) {
  const std::string first_line = message.substr(0, message.find('\n'));
  const bool names_a_place = first_line.find(": error: ") != std::string::npos;
  std::fprintf(stderr, "%s%s\n", names_a_place ? "" : "error: ", message.c_str());
}

}  // namespace hiaton::cli
