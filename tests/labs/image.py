"""The image of packaging/Containerfile, built by buildah of the distribution without network: its base is
made of the packages of this machine that the file asks for, so that apt has nothing to fetch."""

import glob
import io
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tarfile

from ground import Failed, Skipped, program

DIST = pathlib.Path(__file__).resolve().parents[2] / "dist"
# Beside what Debian calls essential: what the file installs, and what it needs for that.
PACKAGES = ("apt", "passwd", "g++", "python3-numpy")
LEFT_OUT = ("/usr/share/doc/", "/usr/share/man/", "/usr/share/locale/", "/usr/share/info/")
TAG = "ratchet-lab-test"


def installed():
    """By package of this machine: what it depends on, also by the names that others provide."""
    rows = subprocess.run(
        ["dpkg-query", "-W", "-f=${Package}\t${db:Status-Status}\t${Depends}, ${Pre-Depends}\t"
         "${Provides}\t${Essential}\n"], text=True, stdout=subprocess.PIPE, check=True).stdout
    found, essential = {}, []
    for row in rows.splitlines():
        name, status, depends, provides, is_essential = row.split("\t")
        if status != "installed":
            continue
        if is_essential == "yes":
            essential.append(name)
        for other in [name, *names_of(provides, ",")]:
            found.setdefault(other, (name, depends))
    return found, essential


def names_of(text, separator):
    return [word.split("(")[0].strip().split(":")[0] for word in text.split(separator) if word.strip()]


def needed():
    """The packages of the base, with all that they depend on."""
    found, want = installed()
    if missing := [name for name in PACKAGES if name not in found]:
        raise Skipped(f"the base of the image needs the packages {' '.join(missing)}")
    want, seen = [*want, *PACKAGES], set()
    while want:
        name, depends = found[want.pop()]
        if name in seen:
            continue
        seen.add(name)
        for alternatives in depends.split(","):
            want += [other for other in names_of(alternatives, "|") if other in found][:1]
    return sorted(seen)


def base(tar):
    """A root of those packages, with a dpkg that knows them and an apt that knows no others."""
    packages = needed()
    listed = subprocess.run(["dpkg", "-L", *packages], text=True, stdout=subprocess.PIPE,
                            check=True).stdout.splitlines()
    paths = {path for path in listed if path.startswith("/") and not path.startswith(LEFT_OUT)}
    # What a package lists behind a link, as /bin/sh, lies at its real path.
    paths = {os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
             for path in paths}
    links = {"/bin", "/sbin", "/lib", "/lib64"} | links_of_alternatives()
    accounts = {"/etc/passwd", "/etc/group", "/etc/ld.so.cache"}  # no passwords
    info = {path for path in glob.glob("/var/lib/dpkg/info/*")
            if os.path.basename(path).rsplit(".", 1)[0].split(":")[0] in packages}
    folders = {"/etc", "/tmp", "/var/lib/dpkg/updates", "/var/lib/apt/lists", "/var/cache/apt/archives"}
    with tarfile.open(tar, "w") as archive:
        for path in sorted(paths | links | accounts | info | folders):
            if os.path.lexists(path):
                archive.add(path, recursive=False)
        add_status(archive, packages)


def links_of_alternatives():
    """Names as /usr/bin/awk, which belong to no package."""
    found = set(glob.glob("/etc/alternatives/*"))
    for folder in ("/usr/bin", *glob.glob("/usr/lib/*-linux-gnu")):
        found |= {entry.path for entry in os.scandir(folder)
                  if entry.is_symlink() and os.readlink(entry.path).startswith("/etc/alternatives/")}
    return found


def add_status(archive, packages):
    """dpkg's table of what is installed, of these alone."""
    rows = pathlib.Path("/var/lib/dpkg/status").read_text().split("\n\n")
    kept = [row for row in rows if row.split("\n")[0].removeprefix("Package: ") in packages]
    data = ("\n\n".join(kept) + "\n").encode()
    entry = tarfile.TarInfo("var/lib/dpkg/status")
    entry.size = len(data)
    archive.addfile(entry, io.BytesIO(data))


class Image:
    """The image, and one container of it, in a folder. Chroots, not podman: they need no control groups
    and no other rights than root's."""

    def __init__(self, folder):
        if os.getuid() != 0:
            raise Skipped("the base is packed by root, and this is another user")
        buildah = program("buildah")
        program("dpkg-query")
        if len(glob.glob(str(DIST / "*.deb"))) != 1:
            raise Skipped("there is no package in dist: ./dev package makes it")
        folder.mkdir(parents=True)
        self.words = [buildah, "--root", folder / "images", "--runroot", folder / "state",
                      "--storage-driver", "vfs"]
        self.container = None
        context = folder / "dist"
        context.mkdir()
        for path in [DIST / "Containerfile", *DIST.glob("*.deb")]:
            shutil.copy(path, context)
        origin = re.search("(?m)^FROM (.*)", (context / "Containerfile").read_text())[1]
        base(folder / "base.tar")
        bare = self.buildah("from", "scratch")
        self.buildah("add", bare, folder / "base.tar", "/")
        self.buildah("commit", "--rm", bare, "docker.io/library/" + origin)
        # In a network of its own: what the file installs is there already, or it fails.
        self.buildah("build", "--isolation=chroot", "--pull-never", "--layers=false", "--tag", TAG, "-f",
                     context / "Containerfile", context, around=["unshare", "--net"])
        self.container = self.buildah("from", "--pull-never", TAG)

    def buildah(self, verb, *words, around=()):
        done = subprocess.run([*around, *map(str, [*self.words, verb, *words])], text=True, timeout=300,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False)
        if done.returncode != 0:
            if "not permitted" in done.stderr:
                raise Skipped(f"buildah {verb} may not run here: {done.stderr[-500:]}")
            raise Failed(f"buildah {verb}: {done.stdout[-1000:]}{done.stderr[-1000:]}")
        return done.stdout.strip()

    def command(self, *words):
        """Starts the image's entry point with these words, as `docker run IMAGE words` does."""
        begin = json.loads(self.buildah("inspect", self.container))["OCIv1"]["config"]["Entrypoint"]
        return shlex.join(map(str, [*self.words, "run", "--isolation=chroot", self.container, "--",
                                    *begin, *words]))

    def close(self):
        if self.container:
            self.buildah("rm", self.container)
