"""Slurm of this machine: munged, slurmctld and two nodes, with settings and ports of their own in a
folder. Everything listens on 127.0.0.1, and ends with the one who started it."""

import contextlib
import ctypes
import os
import pathlib
import signal
import socket
import subprocess

from ground import Skipped, free_ports, program, wait_until
from place import below

PR_SET_PDEATHSIG = 1
NODES = ("n1", "n2")
SETTINGS = """ClusterName=ratchet
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
SlurmctldPort={ports[0]}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
KillWait=3
SlurmdTimeout=8
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/completed
SlurmdParameters=config_overrides
GresTypes=gpu
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=1 Gres=gpu:1
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=1 Gres=gpu:1
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=60 State=UP
PartitionName=urgent Nodes=n1,n2 PriorityTier=2 MaxTime=60 State=UP
"""


# A stand-in that Slurm allocates as it does a GPU; nothing opens it.
GPUS = "Name=gpu File=/dev/null\n"


def ends_with_its_parent():
    """Also when the test is killed: no daemon stays."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def of_node(node):
    """The tasks of a node, by their environment, and the programs of Slurm that hold them."""
    found = set()
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            process = pathlib.Path("/proc") / name
            if (f"SLURMD_NODENAME={node}".encode() in (process / "environ").read_bytes()
                    or (process / "cmdline").read_bytes().startswith(b"slurmstepd: [")):
                found.add(int(name))
    return found


class Slurm:
    """Runs until it is closed, or to the end of a `with`. `labs`: where labs behind it keep their state,
    if they are started with `environment`."""

    def __init__(self, folder, ratchet, labs):
        if os.getuid() != 0:
            raise Skipped("slurmd starts tasks as root only, and this is another user")
        names = {"munged": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd",
                 "srun": "slurm-client"}
        self.programs = {name: program(name, package) for name, package in names.items()}
        self.folder, self.labs = folder, labs
        for part in ("state", *NODES):
            (folder / part).mkdir(parents=True)
        for part in (folder, folder / "state", *(folder / node for node in NODES)):
            part.chmod(0o755)
        (folder / "key").write_bytes(os.urandom(128))
        (folder / "key").chmod(0o400)
        (folder / "slurm.conf").write_text(SETTINGS.format(
            host=socket.gethostname().split(".")[0], folder=folder, ports=free_ports(3)))
        (folder / "gres.conf").write_text(GPUS)
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf"),
                            "PATH": f"{ratchet.parent}:{os.environ['PATH']}",
                            "XDG_STATE_HOME": str(labs)}
        self.daemons = {}
        try:
            self.start("munged", "--force", "--foreground", "--key-file", folder / "key",
                       "--socket", folder / "munge.socket", "--pid-file", folder / "munged.pid",
                       "--log-file", folder / "munged.log", "--seed-file", folder / "seed")
            wait_until((folder / "munge.socket").exists, 20, "munged listens")
            self.start("slurmctld", "-D", "-c")
            for node in NODES:
                self.start_node(node)
            wait_until(lambda: self.nodes() == {"n1": "idle", "n2": "idle"}, 40,
                       lambda: f"both nodes are idle; they are {self.nodes()}; {self.words()}")
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def start(self, name, *words, called=None):
        self.daemons[called or name] = subprocess.Popen(
            [self.programs[name], *map(str, words)], env=self.environment,
            stdin=subprocess.DEVNULL, stdout=(self.folder / f"{called or name}.out").open("a"),
            stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=ends_with_its_parent)

    def start_node(self, node):
        self.start("slurmd", "-D", "-N", node, called=node)

    def kill_node(self, node):
        """As a machine that loses power: its daemon and what runs on it end at once."""
        tasks = of_node(node) | below(self.daemons[node].pid)
        self.daemons[node].kill()
        self.daemons[node].wait()
        for pid in tasks:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def own(self):
        """The daemons, which outlive a scenario, and what they hold."""
        found = set()
        for one in self.daemons.values():
            found |= {one.pid} | below(one.pid)
        return found

    def ask(self, name, *words):
        done = subprocess.run([name, *words], env=self.environment, text=True, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        return done.stdout.strip()

    def nodes(self):
        """State by node."""
        return dict(line.split() for line in self.ask("sinfo", "-h", "-N", "-o", "%N %t").split("\n")
                    if line)

    def jobs(self):
        """(id, state, node) of each in the queue, also those that are about to end."""
        lines = self.ask("squeue", "-h", "-o", "%i|%T|%N").split("\n")
        return [tuple(line.split("|")) for line in lines if line]

    def completed(self):
        """By job, what Slurm wrote of those that have ended."""
        path = self.folder / "completed"
        rows = path.read_text().split("\n") if path.exists() else []
        found = [dict(word.split("=", 1) for word in row.split() if "=" in word) for row in rows if row]
        return {one["JobId"]: one for one in found}

    def words(self):
        return " ".join((self.folder / name).read_text()[-800:]
                        for name in ("slurmctld.log", "n1.log") if (self.folder / name).exists())

    def clear(self):
        """Of all jobs."""
        self.ask("scancel", "--user", "root")

    def close(self):
        if "slurmctld" in self.daemons:
            self.clear()
        for name in reversed(self.daemons):
            one = self.daemons[name]
            one.terminate()
            try:
                one.wait(timeout=10)
            except subprocess.TimeoutExpired:
                one.kill()
                one.wait()
