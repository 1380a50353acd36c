"""Whether others use the machine: their share of it is in every figure."""
import os
import resource
import time
from pathlib import Path

QUIET_CORES = 0.15
GLANCE_SECONDS = 1.0


def wait(longest_seconds):
    """Until others rest, or so long."""
    until = time.monotonic() + longest_seconds
    while time.monotonic() < until:
        others = Others()
        time.sleep(GLANCE_SECONDS)
        if others.cores() < QUIET_CORES:
            return


class Others:
    """Cores that others use from now on: all that was busy less this process and the children it waited for."""

    def __init__(self):
        self.began, self.busy, self.own = time.monotonic(), busy_seconds(), own_seconds()

    def cores(self):
        used = busy_seconds() - self.busy - (own_seconds() - self.own)
        return max(used, 0.0) / (time.monotonic() - self.began)


def busy_seconds():
    """Of the cores that this process may use; a virtual machine's stolen time is others' too."""
    ticks = 0
    for line in Path("/proc/stat").read_text().splitlines():
        name, *fields = line.split()
        if name[:3] == "cpu" and name[3:].isdigit() and int(name[3:]) in os.sched_getaffinity(0):
            user, nice, system, _, _, interrupts, soft, stolen = map(int, fields[:8])
            ticks += user + nice + system + interrupts + soft + stolen
    return ticks / os.sysconf("SC_CLK_TCK")


def own_seconds():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(part.ru_utime + part.ru_stime for part in used)
