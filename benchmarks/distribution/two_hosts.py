"""Two network namespaces of this machine as hosts, joined by a virtual cable of the kernel: TCP as between machines."""

import os
import pathlib
import subprocess
import sys

from contenders import ROOT, TIMEOUT_S

sys.path.append(str(ROOT / "tests/end_to_end"))
from two_networks import ADDRESSES, Refused, TwoNetworks

HOSTS = "--hosts=" + ",".join(f"{address}:1" for address in ADDRESSES)


class TwoHosts(TwoNetworks):
    """Throws Refused where the machine does not let this process have them."""

    def add_device(self, number, address):
        """The cable has two ends, so it is made with the second one."""
        if number == 0:
            return
        run = lambda *words: subprocess.run(words, check=True, capture_output=True, text=True)
        ends = [f"hi{os.getpid() % 100000}e{end}" for end in (0, 1)]
        run("ip", "link", "add", ends[0], "type", "veth", "peer", "name", ends[1])
        for host, end in enumerate(ends):
            run("ip", "link", "set", end, "netns", str(self.holders[host].pid))
            for words in (["link", "set", "lo", "up"], ["addr", "add", f"{ADDRESSES[host]}/24", "dev", end], ["link", "set", end, "up"]):
                run(*self.enter(host), "ip", *words)


def run_on(networks, words, variables):
    """Runs a command in the first of two networks, and returns what it prints."""
    running = networks.start(words, variables, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    printed, said = running.communicate(timeout=TIMEOUT_S)
    if running.returncode != 0:
        raise SystemExit(f"{' '.join(words)} failed: {said}")
    return printed


def two_hosts(scratch):
    """Them, or why there are none."""
    try:
        directory = pathlib.Path(scratch) / "hosts"
        directory.mkdir(exist_ok=True)
        return TwoHosts(directory), None
    except Refused as refused:
        return None, f"skipped: the exchange over TCP: {refused}"
