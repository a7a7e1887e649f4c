"""Draw the README's picture of a report from a real run: `python tools/report_picture.py`.

It holds examples/debate.yaml with the offline model, writes its report, and takes a picture of the page's head with
Chromium, which must be installed: docs/pictures/report.png.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import persimchat
from persimchat.runs.folder.reading import read_run
from persimchat.runs.reports.report import write_report

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "pictures" / "report.png"
EXAMPLE = ROOT / "examples" / "debate.yaml"
WIDTH, HEIGHT = 1200, 1150


def main() -> int:
    """Hold the debate and take the picture.

    Returns:
        The exit code: 1 if there is no Chromium.
    """
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        print("Chromium is needed to take the picture; install it, for example: apt install chromium", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        result = persimchat.simulate(EXAMPLE, model="offline", analysis=True, out=folder)
        page = Path(folder) / "report.html"
        write_report(read_run(Path(str(result.folder))), page)
        options = ["--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size={WIDTH},{HEIGHT}"]
        subprocess.run([chromium, *options, f"--screenshot={PICTURE}", page.as_uri()], check=True, capture_output=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
