#include "net/launch_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <regex>

#include "hiaton/error.h"

namespace hiaton::net {
namespace {

constexpr int kMostProcesses = 65'535;
constexpr std::size_t kMostNotes = std::size_t{16} * 1024;

/// Nothing that a launcher, or a shell on the way of a launcher of somebody else, could take for more than a
/// name.
bool is_host_name(std::string_view name) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_';
  };
  return !name.empty() && name.front() != '-' && std::all_of(name.begin(), name.end(), is_plain);
}

Host parse_host(std::string_view text) {
  const std::size_t colon = text.find(':');
  Host host{std::string(text.substr(0, colon)), 1};
  if (!is_host_name(host.name)) {
    throw ProgramError(fmt::format(
        "expected the name of a host (letters, digits, '.', '-' and '_'), found '{}'", host.name));
  }
  if (colon == std::string_view::npos) return host;
  const std::string_view number = text.substr(colon + 1);
  const char* end = number.data() + number.size();
  const auto [rest, error] = std::from_chars(number.data(), end, host.processes);
  if (error != std::errc() || rest != end || host.processes < 1 || host.processes > kMostProcesses) {
    throw ProgramError(fmt::format("expected a number of processes from 1 to {} behind '{}:', found '{}'",
                                   kMostProcesses, host.name, number));
  }
  return host;
}

std::string joined(const std::vector<Host>& hosts) {
  std::string text;
  for (const Host& host : hosts)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", host.name, host.processes);
  return text;
}

void add_open_mpi_settings(LaunchCommand& command, bool is_local, bool is_root) {
  auto& set = command.environment;
  // Copies within a machine by its own means need a right that containers do not give, and are slower.
  set.emplace_back("OMPI_MCA_btl_vader_single_copy_mechanism", "none");
  set.emplace_back("OMPI_MCA_pml", "ob1");
  set.emplace_back("OMPI_MCA_btl", "self,vader,tcp");
  // Bytes of a message that go over TCP at once. Longer ones wait until the receiver has asked for them,
  // which it does not while it computes; a gradient of a usual parameter is shorter.
  set.emplace_back("OMPI_MCA_btl_tcp_eager_limit", "1048576");
  set.emplace_back("OMPI_MCA_rmaps_base_oversubscribe", "1");
  set.emplace_back("OMPI_MCA_hwloc_base_binding_policy", "none");
  // What the launcher tells processes of each other goes by their connections to it. The tables in shared
  // memory that it would make for that take 20 ms.
  set.emplace_back("PMIX_MCA_gds", "hash");
  // These settings let a host that cannot be reached any more be noticed in seconds rather than minutes.
  set.emplace_back("OMPI_MCA_oob_tcp_keepalive_time", "3");
  set.emplace_back("OMPI_MCA_oob_tcp_keepalive_intvl", "1");
  set.emplace_back("OMPI_MCA_oob_tcp_keepalive_probes", "3");
  // Where a process is lost, the others have nothing to finish.
  set.emplace_back("OMPI_MCA_odls_base_sigkill_timeout", "0");
  if (is_local) set.emplace_back("OMPI_MCA_plm", "isolated");  // needs no ssh
  if (!is_root) return;
  set.emplace_back("OMPI_ALLOW_RUN_AS_ROOT", "1");
  set.emplace_back("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
}

bool is_line_of(std::string_view line, char character) {
  return line.size() > 40 &&
         std::all_of(line.begin(), line.end(), [character](char c) { return c == character; });
}

bool stands_alone(std::string_view line) {
  static constexpr std::string_view kBegins[] = {"YOUR APPLICATION TERMINATED",
                                                 "This typically refers to a problem",
                                                 "Please see the FAQ page",
                                                 "application called MPI_Abort",
                                                 "Abort(",
                                                 "[proxy:",
                                                 "[mpiexec@"};
  const auto begins = [line](std::string_view begin) { return line.starts_with(begin); };
  const bool is_repeated =
      line.starts_with("[") && (line.find("sent help message") != std::string_view::npos ||
                                line.find("Set MCA parameter") != std::string_view::npos ||
                                line.find("ORTE_ERROR_LOG: ") != std::string_view::npos);
  const bool is_of_signal = line.find(": Forwarding signal ") != std::string_view::npos;
  return line.empty() || is_of_signal || is_repeated || line.starts_with("=   ") ||
         std::any_of(std::begin(kBegins), std::end(kBegins), begins);
}

/// What a process says of another one that it does not hear of any more.
std::optional<LostProcess> lost_according_to(std::string_view line) {
  static const std::regex report(R"(error: (process \d+ \((\S+)\) was killed or cannot be reached: .*))");
  std::match_results<std::string_view::const_iterator> found;
  if (!std::regex_search(line.begin(), line.end(), found, report)) return std::nullopt;
  return LostProcess{found.str(2), found.str(1)};
}

}  // namespace

std::vector<Host> parse_hosts(std::string_view text) {
  std::vector<Host> hosts;
  int processes = 0;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    hosts.push_back(parse_host(text.substr(begin, end - begin)));
    processes += hosts.back().processes;
    if (processes > kMostProcesses)
      throw ProgramError(fmt::format("expected at most {} processes, found {}", kMostProcesses, processes));
    begin = end + 1;
  }
  return hosts;
}

std::vector<std::string> launcher_names(Mpi mpi) {
  if (mpi == Mpi::OpenMpi) return {"mpirun.openmpi", "orterun"};
  return {"mpiexec.mpich", "mpiexec.hydra"};
}

LaunchCommand launch_command(Mpi mpi, const std::string& launcher, const std::vector<Host>& hosts,
                             const std::vector<std::string>& program, std::string_view this_host,
                             bool is_root) {
  int processes = 0;
  for (const Host& host : hosts) processes += host.processes;
  const bool is_local = std::all_of(hosts.begin(), hosts.end(), [&](const Host& host) {
    return host.name == "localhost" || host.name == this_host;
  });
  LaunchCommand command;
  command.words = {launcher, mpi == Mpi::OpenMpi ? "--host" : "-hosts", joined(hosts), "-n",
                   std::to_string(processes)};
  if (mpi == Mpi::Mpich && is_local) command.words.insert(command.words.end(), {"-launcher", "fork"});
  command.words.insert(command.words.end(), program.begin(), program.end());
  // Both launchers and Open MPI itself look at the processors, at all PCI devices, which takes 25 ms in a
  // virtual machine, and for displays of ten X servers. They use nothing of what they find there: how many
  // processes a host gets is said, and none is bound to a processor. So on this machine they are told of one
  // processor, which takes 10 ms less than looking for the processors alone. Loading the plug-ins that would
  // look, and one that reads XML with a large library, takes another 6 ms.
  if (is_local) {
    command.environment.emplace_back("HWLOC_SYNTHETIC", "pu:1");
  } else {
    command.environment.emplace_back("HWLOC_COMPONENTS", "-pci,-linux:pci,-gl,-opencl");
  }
  command.environment.emplace_back("HWLOC_PLUGINS_BLACKLIST",
                                   "hwloc_pci.so,hwloc_gl.so,hwloc_opencl.so,hwloc_xml_libxml.so");
  if (mpi == Mpi::OpenMpi) add_open_mpi_settings(command, is_local, is_root);
  return command;
}

bool LauncherNotes::take(std::string_view line) {
  const bool is_frame = is_line_of(line, '-') || is_line_of(line, '=');
  const bool is_note = is_frame || is_inside_ || stands_alone(line);
  if (is_line_of(line, '-')) is_inside_ = !is_inside_;
  if (is_note && !is_frame && text_.size() < kMostNotes) text_.append(line).append("\n");
  if (!is_note && !reported_) reported_ = lost_according_to(line);
  return is_note;
}

std::optional<LostProcess> LauncherNotes::lost_process() const {
  static const std::regex open_mpi(
      "process rank (\\d+) with PID \\d+ on node (\\S+) exited on signal (\\d+)");
  static const std::regex mpich("PID (\\d+) RUNNING AT (\\S+)\\s*\n=\\s+EXIT CODE: (\\d+)");
  std::smatch found;
  if (reported_) return reported_;
  if (std::regex_search(text_, found, open_mpi)) {
    return LostProcess{found.str(2), fmt::format("process {} ({}) was killed by signal {}", found.str(1),
                                                 found.str(2), found.str(3))};
  }
  if (std::regex_search(text_, found, mpich) && text_.find("EXIT STRING") != std::string::npos) {
    return LostProcess{found.str(2),
                       fmt::format("a process on {} was killed by signal {}", found.str(2), found.str(3))};
  }
  return std::nullopt;
}

std::vector<Host> without_process_on(std::string_view lost, std::vector<Host> hosts) {
  const auto host =
      std::find_if(hosts.rbegin(), hosts.rend(), [lost](const Host& one) { return one.name == lost; });
  if (host == hosts.rend()) return hosts;
  if (--host->processes == 0) hosts.erase(std::next(host).base());
  return hosts;
}

}  // namespace hiaton::net
