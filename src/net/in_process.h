// Processes that are threads of this one: to try, and to test, what runs on several machines.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net/link.h"

namespace hiaton::net {

/// The host name, for people.
std::string name_of_this_machine();

/// One link for each of `processes`, by number. They may be used by different threads, and outlive each
/// other.
std::vector<std::unique_ptr<Link>> in_process_links(int processes);

}  // namespace hiaton::net
