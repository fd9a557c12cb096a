// Tokens as JSON lines.
#pragma once

#include <cstdio>
#include <string>

#include "exec/partitioned.h"
#include "hiaton/engine.h"
#include "hiaton/run.h"
#include "partition/partition.h"

namespace hiaton::cli {

/// Writes each token of a run as one line, as it is made or as it is sent to another process.
class EventWriter {
 public:
  /// Throws SystemError where the file cannot be written, as do all below.
  explicit EventWriter(const std::string& path);
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;
  ~EventWriter();

  void write(const graph::Graph& graph, const TokenEvent& event);
  void write(const partition::Partition& parts, const exec::CrossingEvent& event);
  void close();

 private:
  void write_line(const std::string& text);
  [[noreturn]] void fail() const;

  const std::string path_;
  std::FILE* file_;
};

}  // namespace hiaton::cli
