#!/usr/bin/env python3
"""What people get who do not build in the tree: the installed library, found by CMake and by pkg-config, and the
Debian package. Everything happens in a directory that is removed afterwards."""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
WARNINGS = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
FOUND = """\
fact 11
8 1
Node(Node(Leaf(3), Leaf(3)), Node(Leaf(3), Leaf(3)))
5
twice 3.0
slope 3.00
trained 60 steps, right 1
17711 in 2 processes
caught bad.hia:1:20: error: unknown name 'x'"""


def run(*command, **options):
    found = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if found.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{found.stdout}{found.stderr}\nexit status {found.returncode}")
    return found.stdout


def expect(found, text):
    if text not in found:
        sys.exit(f"expected:\n{text}\nfound:\n{found}")


def check_consumer(program, prefix, directory):
    """The program outside of the tree does all it should, with nothing but what was installed."""
    share = prefix / "share" / "hiaton"
    output = run(program, share / "examples" / "fact.hia", share / "models" / "treernn.hia", directory)
    expect(output, FOUND)
    expect(output, "zero.hia:1:28: error: division by zero")


def check_cmake(prefix, directory):
    run("cmake", "-S", HERE / "consumer", "-B", directory, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", directory)
    check_consumer(directory / "consumer", prefix, directory / "trained")


def check_pkg_config(prefix, directory):
    library = next(prefix.glob("lib*/**/pkgconfig"))
    words = run("pkg-config", "--cflags", "--libs", "hiaton", env={**os.environ, "PKG_CONFIG_PATH": str(library)})
    directory.mkdir()
    program = directory / "consumer"
    run("g++", *WARNINGS, HERE / "consumer" / "main.cpp", *words.split(), f"-Wl,-rpath,{library.parent}", "-o", program)
    check_consumer(program, prefix, directory / "trained")


def check_headers(prefix):
    """Each header stands alone, without a warning; all together have none in the other compiler either."""
    headers = sorted((prefix / "include" / "hiaton").glob("*.h"))
    check = ["-fsyntax-only", *WARNINGS, "-I", prefix / "include", "-x", "c++"]
    for header in headers:
        run("g++", *check, "-include", header, "/dev/null")
    if shutil.which("clang++"):
        run("clang++", *check, *(word for header in headers for word in ("-include", header)), "/dev/null")


def check_exports(prefix):
    """The library shows names of the public namespaces alone."""
    library = next(prefix.glob("lib*/**/libhiaton.so"))
    names = run("nm", "-DC", "--defined-only", library).splitlines()
    shown = [re.sub(r"^\S+ \S ", "", line) for line in names]
    if not any(name.startswith("hiaton::Program::run(") for name in shown):
        sys.exit("Program::run is not exported")
    inner = re.compile(r"^(?:(?:non-virtual thunk to|typeinfo(?: name)? for|vtable for|guard variable for) )?"
                       r"hiaton::(exec|ops|kernels|cli|passes::\(anonymous|\(anonymous)")
    foreign = [name for name in shown if "hiaton::" not in name or inner.match(name)]
    if foreign:
        sys.exit("exported, but not public:\n" + "\n".join(foreign[:20]))


def check_debian(build, directory):
    """The package holds the command, which runs with what the package says it depends on."""
    run("cpack", "-G", "DEB", "-B", directory, "--config", build / "CPackConfig.cmake")
    package = next(directory.glob("hiaton_*.deb"))
    depends = run("dpkg-deb", "-f", package, "Depends")
    expect(depends, "libfmt9")
    expect(depends, "libdnnl2")
    run("dpkg-deb", "-x", package, directory / "root")
    usr = directory / "root" / "usr"
    expect(run(usr / "bin" / "hiaton", "run", usr / "share/hiaton/examples/fact.hia", "--n=3"), "11\n")
    for file in ("share/bash-completion/completions/hiaton", "share/doc/hiaton/README.md", "include/hiaton/hiaton.h"):
        if not (usr / file).exists():
            sys.exit(f"the package lacks {file}")
    if any((build / "tools").glob("hiaton_*.so")):
        check_plugins(directory)


def check_plugins(directory):
    """The package hiaton-mpi adds to the other one what the command finds; that one asks for no MPI."""
    package = next(directory.glob("hiaton-mpi_*.deb"))
    expect(run("dpkg-deb", "-f", package, "Depends"), "hiaton (= ")
    if "mpi" in run("dpkg-deb", "-f", next(directory.glob("hiaton_*.deb")), "Depends"):
        sys.exit("the package hiaton depends on MPI")
    run("dpkg-deb", "-x", package, directory / "root")
    if shutil.which("mpirun.openmpi") or shutil.which("mpiexec.mpich"):
        found = run(directory / "root/usr/bin/hiaton", "hosts", "localhost:2")
        if len(found.splitlines()) != 3:
            sys.exit(f"expected two processes, found:\n{found}")


def check_completion(command):
    """Words are completed to commands, options, the parameters of the program and choices of an option."""
    asked = {("hiaton", "tra"): "trace train", ("hiaton", "run", "--exec"): "--executor",
             ("hiaton", "run", "--executor", "=", "ref"): "reference",
             ("hiaton", "run", "examples/tak.hia", "--z"): "--z",
             ("hiaton", "train", "--optimizer", "adag"): "adagrad"}
    for words, expected in asked.items():
        quoted = " ".join(f"'{word}'" for word in words)
        script = (f"source tools/completion.bash; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _hiaton; "
                  'echo "${COMPREPLY[*]}"')
        environment = {**os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}"}
        found = run("bash", "-c", script, cwd=ROOT, env=environment).strip()
        if found != expected:
            sys.exit(f"completion of {words}: expected {expected}, found {found}")


def check_reference():
    """The reference of the public headers is made without a warning."""
    if shutil.which("doxygen"):
        run("doxygen", "docs/Doxyfile", cwd=ROOT)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    build = parser.parse_args().build.resolve()
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        prefix = directory / "prefix"
        run("cmake", "--install", build, "--prefix", prefix)
        check_reference()
        check_completion(prefix / "bin" / "hiaton")
        check_headers(prefix)
        check_exports(prefix)
        check_cmake(prefix, directory / "by_cmake")
        check_pkg_config(prefix, directory / "by_pkg_config")
        check_debian(build, directory / "debian")


if __name__ == "__main__":
    main()
