#!/usr/bin/env python3
"""Makes the wheel of ratchet-mcp from a bundle: wheel.py TREE VERSION TAG FOLDER.

A wheel is a zip file with a list of its contents; no build system is needed. The programs lie in
the package, and `ratchet` starts them in the interpreter's place.
"""

import base64
import hashlib
import pathlib
import sys
import zipfile

NAME = "ratchet_mcp"
DATE = (2020, 1, 1, 0, 0, 0)  # the same input gives the same bytes

START = '''"""Starts the ratchet that this package carries."""

import os
import pathlib
import sys


def main():
    program = pathlib.Path(__file__).parent / "tree" / "bin" / "ratchet"
    os.execv(program, ["ratchet", *sys.argv[1:]])
'''

METADATA = """Metadata-Version: 2.1
Name: ratchet-mcp
Version: {version}
Summary: MCP server for agents that optimize compute kernels
License: Apache-2.0
Keywords: mcp,cuda,gpu,kernel,performance
Requires-Python: >=3.8
Classifier: Operating System :: POSIX :: Linux
Description-Content-Type: text/markdown

{readme}"""


def main():
    tree, version, tag, folder = pathlib.Path(sys.argv[1]), *sys.argv[2:]
    info = f"{NAME}-{version}.dist-info"
    files = {
        f"{NAME}/__init__.py": (START.encode(), 0o644),
        f"{NAME}/__main__.py": (b"from . import main\n\nmain()\n", 0o644),
    }
    for path in sorted(tree.rglob("*")):
        if path.is_file():
            mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
            files[f"{NAME}/tree/{path.relative_to(tree)}"] = (path.read_bytes(), mode)
    readme = (tree / "README.md").read_text()
    for name, text in {
        "METADATA": METADATA.format(version=version, readme=readme),
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: ratchet\nRoot-Is-Purelib: false\nTag: {tag}\n",
        "entry_points.txt": f"[console_scripts]\nratchet = {NAME}:main\nratchet-mcp = {NAME}:main\n",
        "LICENSE": (tree / "LICENSE").read_text(),
    }.items():
        files[f"{info}/{name}"] = (text.encode(), 0o644)
    record = ""
    for name, (data, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = ((record + f"{info}/RECORD,,\n").encode(), 0o644)
    wheel = pathlib.Path(folder) / f"{NAME}-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (data, mode) in files.items():
            entry = zipfile.ZipInfo(name, DATE)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    print(wheel)


main()
