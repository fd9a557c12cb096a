// Libraries that are loaded when they are needed.
#pragma once

#include <string>

namespace hiaton {

/// A shared library that few programs need and that takes long to load. It stays loaded until the process
/// ends: threads may be running in it.
class SharedLibrary {
 public:
  /// Loads the library `name`, which is found as those that a program is linked with. `user`, in the plural,
  /// and `package`, of Debian, are for the message. Throws Error where there is no such library.
  SharedLibrary(std::string name, const std::string& user, const std::string& package);

  /// Returns the function of this name, also of a library that this one needs. Throws Error where there is
  /// none.
  template <class F>
  F* find(const char* symbol) const {
    return reinterpret_cast<F*>(address_of(symbol));
  }

 private:
  void* address_of(const char* symbol) const;

  const std::string name_;
  void* handle_ = nullptr;
};

}  // namespace hiaton
