#include "hiaton/shared_string.h"

namespace hiaton {

const std::string& SharedString::nothing() {
  static const std::string empty;
  return empty;
}

void SharedString::release() {
  // Releases what this owner did with the text to the one that deletes it, which acquires it.
  if (shared_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete shared_;
}

}  // namespace hiaton
