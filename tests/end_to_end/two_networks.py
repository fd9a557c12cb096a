"""Two network namespaces of this machine as hosts, and the line between them: a forwarder between two tun devices, which delays
packets, loses some, and can be cut. So no part of the kernel that shapes traffic is needed."""

import fcntl
import heapq
import os
import pathlib
import random
import select
import shutil
import signal
import struct
import subprocess
import threading
import time

ADDRESSES = ("10.77.0.1", "10.77.0.2")
TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
MTU = 1500


class Refused(Exception):
    """The machine does not let this process have network namespaces."""


class Line:
    """Forwards packets between two devices until it is closed."""

    def __init__(self, devices, delay_s, loss):
        self.devices, self.delay_s, self.loss = devices, delay_s, loss
        self.is_cut = False
        self.forwarded = self.lost = 0
        self.random = random.Random(1)
        self.ends = os.pipe()
        self.thread = threading.Thread(target=self.forward, daemon=True)
        self.thread.start()

    def forward(self):
        under_way, number = [], 0  # (when it arrives, number, to, packet)
        while True:
            wait = max(0.0, under_way[0][0] - time.monotonic()) if under_way else None
            ready, _, _ = select.select([*self.devices, self.ends[0]], [], [], wait)
            if self.ends[0] in ready:
                return
            for device in ready:
                packet = os.read(device, MTU + 100)
                if self.is_cut or self.random.random() < self.loss:
                    self.lost += 1
                    continue
                number += 1
                to = self.devices[1 - self.devices.index(device)]
                heapq.heappush(under_way, (time.monotonic() + self.delay_s, number, to, packet))
            while under_way and under_way[0][0] <= time.monotonic():
                _, _, to, packet = heapq.heappop(under_way)
                self.forwarded += 1
                try:
                    os.write(to, packet)
                except OSError:
                    self.lost += 1  # its namespace is going

    def close(self):
        os.write(self.ends[1], b"x")
        self.thread.join()


class TwoNetworks:
    """Hosts of the names ADDRESSES. Commands of `inside` run in the first one; what Open MPI starts on the second one goes there by a
    script in the place of ssh. Throws Refused."""

    def __init__(self, directory, delay_s=0.0, loss=0.0):
        self.directory = pathlib.Path(directory)
        self.holders, self.devices = [], []
        try:
            for program in ("unshare", "nsenter", "ip", "hostname"):
                if shutil.which(program) is None:
                    raise Refused(f"there is no program {program}")
            for number, address in enumerate(ADDRESSES):
                self.hold(number)
                self.add_device(number, address)
        except (OSError, subprocess.SubprocessError) as error:
            self.close()
            raise Refused(str(error)) from error
        self.line = Line(self.devices, delay_s, loss)
        self.agent = self.directory / "agent"
        self.agent.write_text("#!/bin/sh\nshift\nexec " + " ".join(self.enter(1)) + ' sh -c "$*" > /dev/null 2>&1 < /dev/null\n', encoding="utf-8")
        self.agent.chmod(0o755)

    def hold(self, number):
        """A process that keeps a namespace."""
        script = f"hostname network{number} && echo ready && exec sleep 600"
        holder = subprocess.Popen(["unshare", "--net", "--uts", "sh", "-c", script], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
        if holder.stdout.readline() != "ready\n":
            raise OSError(holder.communicate()[1].strip() or "no network namespace")
        self.holders.append(holder)

    def add_device(self, number, address):
        device = os.open("/dev/net/tun", os.O_RDWR)
        self.devices.append(device)
        name = f"hi{os.getpid() % 100000}n{number}"
        fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
        run = lambda *words: subprocess.run(words, check=True, capture_output=True, text=True)
        run("ip", "link", "set", name, "netns", str(self.holders[number].pid))
        for words in (["link", "set", "lo", "up"], ["addr", "add", f"{address}/24", "dev", name],
                      ["link", "set", name, "mtu", str(MTU), "up"]):
            run(*self.enter(number), "ip", *words)

    def enter(self, number):
        return ["nsenter", "--target", str(self.holders[number].pid), "--net", "--uts"]

    def start(self, words, environment, **options):
        """A command in the first network, whose launcher finds the second one."""
        variables = {**environment, "OMPI_MCA_plm_rsh_agent": str(self.agent), "OMPI_MCA_btl": "self,tcp",
                     "OMPI_MCA_oob_tcp_if_include": "10.77.0.0/24", "OMPI_MCA_btl_tcp_if_include": "10.77.0.0/24"}
        variables.pop("OMPI_MCA_plm", None)
        return subprocess.Popen([*self.enter(0), *words], env=variables, text=True, stdin=subprocess.DEVNULL, **options)

    @staticmethod
    def processes_with(holder):
        """Those in its network, itself among them: a daemon of the launcher waits long for a line that is cut."""
        network = os.stat(f"/proc/{holder}/ns/net").st_ino
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and os.stat(entry / "ns/net").st_ino == network:
                    found.append(int(entry.name))
            except OSError:
                pass
        return found

    def close(self):
        line = getattr(self, "line", None)
        if line is not None:
            line.close()
        for holder in self.holders:
            for process in self.processes_with(holder.pid):
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    pass  # it has ended
            holder.communicate()
        for device in self.devices:
            os.close(device)
