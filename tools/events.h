// Tokens as JSON lines.
#pragma once

#include <cstdio>
#include <string>

#include "hiaton/engine.h"
#include "hiaton/run.h"

namespace hiaton::cli {

/// Writes each token of a run as one line, as it is made.
class EventWriter {
 public:
  /// Both must outlive the writer. Throws SystemError where the file cannot be written, as do all below.
  EventWriter(const std::string& path, const graph::Graph& graph);
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;
  ~EventWriter();

  void write(const TokenEvent& event);
  void close();

 private:
  [[noreturn]] void fail() const;

  const std::string path_;
  const graph::Graph& graph_;
  std::FILE* file_;
};

}  // namespace hiaton::cli
