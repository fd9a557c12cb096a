#include <cstdio>
#include <string>

#include "exec/firing.h"

namespace hiaton::exec {

void print_line(const RunOptions& options, std::span<const int32_t> code_points) {
  std::string line = to_utf8(code_points);
  if (options.print) return options.print(line);
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stdout);  // locks the stream
}

}  // namespace hiaton::exec
