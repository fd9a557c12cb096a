#!/usr/bin/env python3
"""Looks at the machine code of the interpreter: it holds no atomic read-modify-write and no fence.

With --show Call1 Return1 ..., prints the code of these instructions up to the jump to the next one.
"""

import argparse
import pathlib
import re
import subprocess
import sys

INSTRUCTION_LIST = pathlib.Path(__file__).resolve().parents[2] / "src" / "exec" / "direct" / "instruction.h"
EXECUTE = r"hiaton::exec::direct::\(anonymous namespace\)::execute\(hiaton::exec::direct::Worker"
# xchg with memory locks without being told to.
ATOMIC = re.compile(r"\block\b|\b[lms]fence\b|\bxchg\b.*\[")


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def machine_code(program):
    """The interpreter's code: {address: text}."""
    code = {}
    inside = False
    for line in output_of("objdump", "-d", "-C", "--no-show-raw-insn", "-M", "intel", program).splitlines():
        if line.endswith(">:"):
            inside = re.search(rf"<{EXECUTE}.*>:", line) is not None
        found = re.match(r"\s*([0-9a-f]+):\s*(\S.*)", line)
        if inside and found:
            code[int(found.group(1), 16)] = re.sub(r"\s*<.*>", "", found.group(2)).expandtabs(8)
    return code


def handler_addresses(program):
    """Where the code of each control instruction starts, read off the interpreter's table."""
    table = re.search(rf"([0-9a-f]+) . {EXECUTE}.*::handlers", output_of("nm", "-C", program))
    if not table:
        raise SystemExit("the program has no table of handlers: is it stripped?")
    listed = INSTRUCTION_LIST.read_text().split("#define HIATON_CONTROL_INSTRUCTIONS(X)")[1]
    names = re.findall(r"\bX\((\w+)\)", listed.split("\n\n")[0])
    relocation = r"^0*([0-9a-f]+) \S*RELATIVE\S*\s+\*ABS\*\+0x0*([0-9a-f]+)"
    entries = dict(re.findall(relocation, output_of("objdump", "-R", program), re.M))
    start = int(table.group(1), 16)
    return {name: int(entries[f"{start + 8 * i:x}"], 16) for i, name in enumerate(names)}


def show(program, code, names):
    addresses = handler_addresses(program)
    for name in names:
        print(f"{name}:")
        for address in sorted(code):
            if address < addresses[name]:
                continue
            print(f"  {code[address]}")
            if re.match(r"jmp\s+(QWORD|r\w+$)", code[address]):
                break


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hiaton", required=True, help="the built program")
    parser.add_argument("--show", nargs="*", default=[], metavar="INSTRUCTION")
    arguments = parser.parse_args()
    code = machine_code(arguments.hiaton)
    if len(code) < 1000:
        raise SystemExit(f"expected the interpreter, found {len(code)} instructions")
    show(arguments.hiaton, code, arguments.show)
    atomic = [f"{address:x}: {text}" for address, text in code.items() if ATOMIC.search(text)]
    if atomic:
        print("\n".join(atomic), file=sys.stderr)
        raise SystemExit("the interpreter holds atomic operations or fences")


if __name__ == "__main__":
    main()
