#include "base/shared_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <utility>

#include "hiaton/error.h"

namespace hiaton {

SharedLibrary::SharedLibrary(std::string name, const std::string& user, const std::string& package)
    : name_(std::move(name)), handle_(dlopen(name_.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) {
    throw Error(fmt::format("{} need {}, which cannot be loaded: {}; Debian has it in the package {}", user,
                            name_, dlerror(), package));
  }
}

void* SharedLibrary::address_of(const char* symbol) const {
  void* address = dlsym(handle_, symbol);
  if (address == nullptr) {
    throw Error(
        fmt::format("expected a function {} in {}, found none: it is another version", symbol, name_));
  }
  return address;
}

}  // namespace hiaton
