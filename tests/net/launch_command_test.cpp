#include "net/launch_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "hiaton/error.h"

namespace hiaton::net {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

TEST(Hosts, AreReadWithTheirProcesses) {
  EXPECT_THAT(parse_hosts("a:2,b,node-3.cluster_x:10"),
              ElementsAre(Host{"a", 2}, Host{"b", 1}, Host{"node-3.cluster_x", 10}));
}

std::string error_of(const char* text) {
  try {
    parse_hosts(text);
  } catch (const ProgramError& error) {
    return error.what();
  }
  return "none";
}

TEST(Hosts, ThatAreNoNamesAreErrors) {
  for (const char* text : {"", "a,,b", "-oProxyCommand=x", "a;reboot", "$(id)", "a b", "a\nb", "a:1,"}) {
    EXPECT_THAT(error_of(text), HasSubstr("expected the name of a host")) << text;
  }
  for (const char* text : {"a:", "a:0", "a:-1", "a:x", "a:2:3", "a:99999999999"}) {
    EXPECT_THAT(error_of(text), HasSubstr("expected a number of processes from 1 to 65535 behind 'a:'"))
        << text;
  }
  EXPECT_THAT(error_of("a:65535,b:1"), HasSubstr("expected at most 65535 processes, found 65536"));
}

TEST(LaunchCommand, IsAListOfWordsForEachMpi) {
  const std::vector<std::string> program{"/usr/bin/hiaton", "run", "my file.hia", "--n=$(id)"};
  const std::vector<Host> hosts = parse_hosts("a:2,b:1");
  const LaunchCommand open_mpi = launch_command(Mpi::OpenMpi, "/bin/mpirun", hosts, program, "here", false);
  EXPECT_THAT(open_mpi.words, ElementsAre("/bin/mpirun", "--host", "a:2,b:1", "-n", "3", "/usr/bin/hiaton",
                                          "run", "my file.hia", "--n=$(id)"));
  EXPECT_THAT(open_mpi.environment, Contains(Pair("OMPI_MCA_btl", "self,vader,tcp")));
  EXPECT_THAT(open_mpi.environment, Contains(Pair("OMPI_MCA_btl_tcp_eager_limit", "1048576")));
  EXPECT_THAT(open_mpi.environment, Contains(Pair("PMIX_MCA_gds", "hash")));
  EXPECT_THAT(open_mpi.environment, Contains(Pair("HWLOC_COMPONENTS", "-pci,-linux:pci,-gl,-opencl")));
  EXPECT_THAT(open_mpi.environment, Contains(Pair("HWLOC_PLUGINS_BLACKLIST", HasSubstr("hwloc_gl.so"))));
  EXPECT_THAT(open_mpi.environment, Not(Contains(Pair("OMPI_MCA_plm", "isolated"))));
  EXPECT_THAT(open_mpi.environment, Not(Contains(Pair("OMPI_ALLOW_RUN_AS_ROOT", "1"))));
  const LaunchCommand mpich = launch_command(Mpi::Mpich, "/bin/mpiexec", hosts, {"x"}, "here", true);
  EXPECT_THAT(mpich.words, ElementsAre("/bin/mpiexec", "-hosts", "a:2,b:1", "-n", "3", "x"));
}

TEST(LaunchCommand, NeedsNoSshAndNoTopologyOfThisMachine) {
  const std::vector<Host> hosts = parse_hosts("localhost:1,here:1");
  EXPECT_THAT(launch_command(Mpi::OpenMpi, "m", hosts, {"x"}, "here", true).environment,
              testing::IsSupersetOf({Pair("OMPI_MCA_plm", "isolated"), Pair("OMPI_ALLOW_RUN_AS_ROOT", "1"),
                                     Pair("HWLOC_SYNTHETIC", "pu:1")}));
  EXPECT_THAT(launch_command(Mpi::Mpich, "m", hosts, {"x"}, "here", false).words, Contains("fork"));
}

std::optional<Launched> launched_with(const std::map<std::string, const char*>& variables) {
  return find_launched([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second;
  });
}

TEST(Launched, IsFoundByTheVariablesOfTheLauncher) {
  EXPECT_FALSE(launched_with({}));
  const auto open_mpi = launched_with({{"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_RANK", "1"}});
  ASSERT_TRUE(open_mpi);
  EXPECT_EQ(open_mpi->mpi, Mpi::OpenMpi);
  EXPECT_EQ(open_mpi->processes, 4);
  const auto mpich = launched_with({{"PMI_SIZE", "2"}, {"PMI_RANK", "0"}});
  ASSERT_TRUE(mpich);
  EXPECT_EQ(mpich->mpi, Mpi::Mpich);
  const auto slurm = launched_with({{"PMIX_RANK", "0"}, {"SLURM_STEP_NUM_TASKS", "8"}});
  ASSERT_TRUE(slurm);
  EXPECT_EQ(slurm->processes, 8);
  EXPECT_FALSE(launched_with({{"SLURM_STEP_NUM_TASKS", "8"}})) << "a batch script of Slurm";
  EXPECT_FALSE(launched_with({{"OMPI_COMM_WORLD_SIZE", "1"}})) << "alone";
  EXPECT_FALSE(launched_with({{"PMI_SIZE", "many"}}));
}

TEST(LauncherNotes, NameTheProcessThatWasKilled) {
  LauncherNotes open_mpi;
  const std::string frame(74, '-');
  EXPECT_FALSE(open_mpi.take("error: something of a process"));
  for (const std::string& line :
       {frame,
        std::string(
            "mpirun noticed that process rank 1 with PID 0 on node nodeb exited on signal 9 (Killed)."),
        frame}) {
    EXPECT_TRUE(open_mpi.take(line));
  }
  EXPECT_FALSE(open_mpi.take("what a process says"));
  EXPECT_TRUE(open_mpi.take("mpirun.openmpi: Forwarding signal 10 to job"));
  ASSERT_TRUE(open_mpi.lost_process());
  EXPECT_EQ(open_mpi.lost_process()->message, "process 1 (nodeb) was killed by signal 9");
  EXPECT_EQ(open_mpi.lost_process()->host, "nodeb");

  EXPECT_TRUE(
      open_mpi.take("[nodea:00042] [[1,0],0] ORTE_ERROR_LOG: Data unpack would read past end of buffer in "
                    "file x.c at line 7"));
  EXPECT_EQ(open_mpi.lost_process()->host, "nodeb");

  LauncherNotes mpich;
  for (const char* line :
       {"", "===================================================================================",
        "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES", "=   PID 3435 RUNNING AT nodec",
        "=   EXIT CODE: 9", "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)"}) {
    EXPECT_TRUE(mpich.take(line)) << line;
  }
  ASSERT_TRUE(mpich.lost_process());
  EXPECT_EQ(mpich.lost_process()->message, "a process on nodec was killed by signal 9");
  EXPECT_EQ(mpich.lost_process()->host, "nodec");
  EXPECT_FALSE(LauncherNotes().lost_process());

  LauncherNotes silent;
  EXPECT_FALSE(silent.take(
      "error: process 2 (nodea) was killed or cannot be reached: nothing was heard of it for 10.2 s"));
  ASSERT_TRUE(silent.lost_process());
  EXPECT_EQ(silent.lost_process()->host, "nodea");
}

TEST(Hosts, GoOnWithoutTheProcessThatWasLost) {
  const std::vector<Host> hosts = parse_hosts("a:2,b:1,a:1");
  EXPECT_EQ(without_process_on("b", hosts), parse_hosts("a:2,a:1"));
  EXPECT_EQ(without_process_on("a", hosts), parse_hosts("a:2,b:1"));
  EXPECT_EQ(without_process_on("a", parse_hosts("a:2,b:1")), parse_hosts("a:1,b:1"));
  EXPECT_EQ(without_process_on("c", hosts), hosts);
}

}  // namespace
}  // namespace hiaton::net
