#include "process_options.h"

#include <fmt/format.h>

#include <fstream>
#include <optional>

#include "choices.h"
#include "launch.h"
#include "output.h"
#include "passed_output.h"
#include "process.h"
#include "units.h"

namespace hiaton::cli {
namespace {

constexpr const char* kGroup = "Processes";

void set_heartbeat(ProcessOptions& options, const std::string& text) {
  const std::chrono::nanoseconds time = parse_duration(text);
  if (time < std::chrono::milliseconds(100))
    throw UsageError(fmt::format("--heartbeat: expected at least 100ms, found {}", text));
  options.transport.longest_silence = time;
}

bool has_joined = false;

/// What there is to do after the error that is being handled: nothing, but the other processes are told of
/// it.
class NoWork : public net::Work {
 public:
  std::string prepare(int /*self*/) override { std::rethrow_exception(error_); }
  void work(net::Transport& /*transport*/) override {}

 private:
  const std::exception_ptr error_ = std::current_exception();
};

/// Process 0 reports what goes wrong; the others have told it theirs.
int work_launched(const net::Launched& launched, const ProcessOptions& options,
                  const net::MakeWork& make_work) {
  has_joined = true;
  net::LaunchedProcess process(launched);
  if (process.is_first()) take_offered_output();
  net::Transport::Options transport = options.transport;
  transport.report = complain;
  transport.interrupted = &interrupt_flag();
  try {
    process.work(transport, make_work);
    return kSuccess;
  } catch (const net::ProcessFailure& failure) {
    if (failure.is_reported_here()) complain(failure.what());
    return kError;
  } catch (const std::exception&) {
    if (!process.is_first()) return kError;
    const int status = report_current_exception();
    process.set_status(status);
    return status;
  }
}

}  // namespace

void add_process_options(CLI::App& command, ProcessOptions& options, bool with_hosts) {
  command.add_option("--processes", options.processes, "So many processes, as threads of this one")
      ->check(in_range(1, 1024))
      ->type_name("N")
      ->default_str("1")
      ->group(kGroup);
  if (with_hosts) {
    command.add_option("--hosts", options.hosts, "Processes on these hosts, as a:2,b:2; needs MPI")
        ->type_name("LIST")
        ->group(kGroup);
  }
  command
      .add_option_function<std::string>(
          "--heartbeat", [&options](const std::string& text) { set_heartbeat(options, text); },
          "A process that says nothing for so long is lost")
      ->type_name("TIME")
      ->default_str("10s")
      ->group(kGroup);
}

bool is_spread(const ProcessOptions& options) {
  const bool is_launched = net::find_launched().has_value();
  if (is_launched && (options.processes > 1 || !options.hosts.empty()))
    throw UsageError("expected no --processes and no --hosts in a process that a launcher has started");
  if (options.processes > 1 && !options.hosts.empty())
    throw UsageError("expected either --processes or hosts, found both");
  return is_launched || options.processes > 1 || !options.hosts.empty();
}

int work_in_processes(const ProcessOptions& options, const std::vector<std::string>& words,
                      const net::MakeWork& make_work) {
  if (const std::optional<net::Launched> launched = net::find_launched())
    return work_launched(*launched, options, make_work);
  if (!options.hosts.empty()) return report(launch(net::parse_hosts(options.hosts), words));
  net::work_in_threads(options.processes, options.transport, make_work);
  return kSuccess;
}

int report_once() {
  const std::optional<net::Launched> launched = net::find_launched();
  if (!launched || has_joined) return report_current_exception();
  try {
    return work_launched(*launched, {}, [] { return std::make_unique<NoWork>(); });
  } catch (const std::exception&) {
    // Nobody can be told: what starts the process around has no plug-in here.
  }
  return report_current_exception();
}

std::vector<std::string> words_for_processes() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  std::string word;
  std::getline(file, word, '\0');
  while (std::getline(file, word, '\0')) {
    if (word == "--hosts" || word == "--restart") {
      std::getline(file, word, '\0');
    } else if (!word.starts_with("--hosts=") && !word.starts_with("--restart=")) {
      words.push_back(word);
    }
  }
  return words;
}

}  // namespace hiaton::cli
