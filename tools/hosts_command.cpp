// hiaton hosts [HOSTS]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.h"
#include "net/measure.h"
#include "output.h"
#include "process_options.h"
#include "report.h"
#include "units.h"

namespace hiaton::cli {
namespace {

struct HostsCommand {
  ProcessOptions processes;
  bool json = false;
};

struct Row {
  int process;
  std::string host;
  net::Identity identity;
  net::Measured measured;
};

std::vector<Row> rows_of(const net::Transport& transport, const std::vector<net::Measured>& measured) {
  std::vector<Row> rows;
  for (int i = 0; i < transport.size(); ++i) {
    rows.push_back({i, transport.host(i), transport.identity(i), measured[static_cast<std::size_t>(i)]});
  }
  return rows;
}

std::string show(const std::vector<Row>& rows) {
  std::size_t width = 4;
  for (const Row& row : rows) width = std::max(width, row.host.size());
  std::string text = fmt::format("{:>7}  {:<{}}  {:<7}  {:<12}  {:>10}  {:>8}  {:>10}\n", "process", "host",
                                 width, "version", "instructions", "round trip", "MB/s", "clock");
  for (const Row& row : rows) {
    text += fmt::format("{:>7}  {:<{}}  {:<7}  {:<12}", row.process, row.host, width, row.identity.version,
                        row.identity.instructions);
    if (row.process > 0) {
      text += fmt::format("  {:>7.1f} us  {:>8.0f}  {:>+7.3f} ms", row.measured.round_trip_seconds * 1e6,
                          row.measured.bytes_per_second * 1e-6, row.measured.clock_offset_seconds * 1e3);
    }
    text += '\n';
  }
  return text;
}

std::string show_json(const std::vector<Row>& rows) {
  auto all = nlohmann::ordered_json::array();
  for (const Row& row : rows) {
    nlohmann::ordered_json one{{"process", row.process},
                               {"host", row.host},
                               {"version", row.identity.version},
                               {"instructions", row.identity.instructions}};
    if (row.process > 0) {
      one["round_trip_seconds"] = row.measured.round_trip_seconds;
      one["bytes_per_second"] = row.measured.bytes_per_second;
      one["clock_offset_seconds"] = row.measured.clock_offset_seconds;
    }
    all.push_back(std::move(one));
  }
  return dump({{"processes", all}});
}

class HostsWork : public net::Work {
 public:
  explicit HostsWork(const HostsCommand& command) : command_(command) {}

  std::string prepare(int /*self*/) override { return {}; }
  void work(net::Transport& transport) override {
    const std::vector<net::Measured> measured = net::measure(transport);
    if (transport.self() != 0) return;
    const std::vector<Row> rows = rows_of(transport, measured);
    write_to_stdout(command_.json ? show_json(rows) : show(rows));
  }

 private:
  const HostsCommand& command_;
};

std::vector<std::string> words_of(const HostsCommand& command) {
  std::vector<std::string> words{"hosts"};
  if (command.json) words.emplace_back("--json");
  return words;
}

}  // namespace

Command add_hosts_command(CLI::App& app) {
  auto command = std::make_shared<HostsCommand>();
  command->processes.transport.must_agree = false;  // the table shows how they differ
  CLI::App* options = app.add_subcommand("hosts", "Measure the way to processes on other machines");
  options
      ->add_option("HOSTS", command->processes.hosts,
                   "As a:2,b:2: two processes on a and two on b; needs MPI")
      ->type_name("");
  options->add_flag("--json", command->json, "One JSON object instead of a table for people");
  add_process_options(*options, command->processes, false);
  return {options, [command](const std::vector<std::string>& after_dashes) {
            if (!after_dashes.empty()) throw UsageError("'hiaton hosts' takes nothing after --");
            is_spread(command->processes);
            return work_in_processes(command->processes, words_of(*command),
                                     [command] { return std::make_unique<HostsWork>(*command); });
          }};
}

}  // namespace hiaton::cli
