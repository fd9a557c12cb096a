#include "commands.h"

int main(int argc, char** argv) {
  return hiaton::cli::run(argc, argv);
}
