"""sshd of this machine on a free port of 127.0.0.1, with keys and settings of its own in a folder."""

import contextlib
import os
import pathlib
import pwd
import shutil
import subprocess
import time

from ground import free_ports, program, wait_until

PRIVILEGE_SEPARATION = pathlib.Path("/run/sshd")  # compiled into sshd, which insists on it as root


class Sshd:
    """`hosts`: what a login finds there, by host: settings of sshd for its port. All reach `ratchet`
    of `ratchet_folder`; the lab's state is in `state`."""

    def __init__(self, folder, ratchet_folder, state, hosts):
        self.folder, self.log = folder, folder / "sshd.log"
        folder.mkdir(parents=True)
        folder.chmod(0o755)
        for name in ("host_key", "user_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name],
                           check=True)
        shutil.copy(folder / "user_key.pub", folder / "authorized_keys")
        ports = dict(zip(hosts, free_ports(len(hosts))))
        path = f"{ratchet_folder}:/usr/local/bin:/usr/bin:/bin"
        common = f'XDG_STATE_HOME={state} "PATH={path}"'
        settings = [f"HostKey {folder}/host_key", f"AuthorizedKeysFile {folder}/authorized_keys",
                    "ListenAddress 127.0.0.1", *(f"Port {port}" for port in ports.values()),
                    "UsePAM no", "StrictModes no", "PidFile none", "PrintMotd no",
                    "PermitRootLogin yes", "KbdInteractiveAuthentication no"]
        for host, port in ports.items():
            own = [line.format(common=common, path=path, state=state) for line in hosts[host]]
            if not any(line.startswith("SetEnv") for line in own):
                own.append(f"SetEnv {common}")
            settings += [f"Match LocalPort {port}", *("  " + line for line in own)]
        (folder / "sshd_config").write_text("\n".join(settings) + "\n")
        key = (folder / "host_key.pub").read_text()
        (folder / "known_hosts").write_text("".join(f"[127.0.0.1]:{port} {key}"
                                                    for port in ports.values()))
        (folder / "no_hosts").write_text("")
        user = pwd.getpwuid(os.getuid()).pw_name
        self.config = folder / "config"
        self.config.write_text("".join(
            f"Host {host}\n  HostName 127.0.0.1\n  Port {port}\n  User {user}\n"
            f"  IdentityFile {folder}/user_key\n  IdentitiesOnly yes\n"
            f"  UserKnownHostsFile {folder}/{'no_hosts' if host == 'stranger' else 'known_hosts'}\n"
            f"  GlobalKnownHostsFile none\n" for host, port in ports.items()))
        self.made = os.getuid() == 0 and not PRIVILEGE_SEPARATION.exists()
        if self.made:
            PRIVILEGE_SEPARATION.mkdir(mode=0o755)
        self.process = subprocess.Popen(
            [program("sshd"), "-D", "-e", "-f", folder / "sshd_config"], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=self.log.open("w"), start_new_session=True)
        try:
            wait_until(lambda: self.log.read_text().count("Server listening") == len(ports), 20,
                       lambda: f"sshd listens; it said: {self.log.read_text()}")
        except BaseException:
            self.close()
            raise

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=20)
        if self.made:
            with contextlib.suppress(OSError):
                PRIVILEGE_SEPARATION.rmdir()
