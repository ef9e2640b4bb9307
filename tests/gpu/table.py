"""The table of a check on a machine with a GPU; rows are printed at once and written at the end."""

import datetime
import os
import subprocess


class Table:
    def __init__(self):
        self.rows = []

    def row(self, name, value, passed):
        """`passed`: None for rows that are only informative."""
        verdict = {True: "pass", False: "FAIL", None: "info"}[passed]
        self.rows.append((name, str(value).replace("|", "/").replace("\n", " "), verdict))
        print(f"{verdict:5} {name}: {value}", flush=True)

    def write(self, out, file_name, title, command):
        """Writes OUT/FILE_NAME and returns the number of failed rows."""
        try:
            devices = subprocess.run(
                ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                capture_output=True, text=True, check=False).stdout.strip().replace("\n", "; ")
        except FileNotFoundError:
            devices = "no GPU"
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
        failed = sum(verdict == "FAIL" for _, _, verdict in self.rows)
        with open(os.path.join(out, file_name), "w", encoding="utf-8") as file:
            file.write(f"# {title}\n\n`{command}`, {devices}, {now}. {failed} of {len(self.rows)} "
                       "rows failed.\n\n| check | value | verdict |\n|---|---|---|\n")
            for row in self.rows:
                file.write("| " + " | ".join(row) + " |\n")
        return failed
