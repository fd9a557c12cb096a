// How long a message takes to another process over MPI and back:
//   mpirun -n 2 ping_pong_mpi COUNT
// sends so many messages of 100 bytes, one after the other, each when the one before has come back. Process 0
// prints their number and the seconds they took, as JSON.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int self = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 2 || size != 2) {
    std::fprintf(stderr, "expected a number of messages, and two processes\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const long count = std::strtol(argv[1], nullptr, 10);
  std::array<char, 100> message{};
  const auto send = [&] { MPI_Send(message.data(), message.size(), MPI_CHAR, 1 - self, 0, MPI_COMM_WORLD); };
  const auto receive = [&] {
    MPI_Recv(message.data(), message.size(), MPI_CHAR, 1 - self, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  };
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (long i = 0; i < count; ++i) {
    if (self == 0) send();
    receive();
    if (self == 1) send();
  }
  const double seconds = MPI_Wtime() - begin;
  if (self == 0) std::printf("{\"results\": [%ld], \"seconds\": %.9f}\n", count, seconds);
  MPI_Finalize();
  return 0;
}
