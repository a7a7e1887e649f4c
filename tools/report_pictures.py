"""Draw the documents' pictures of reports from real runs: `python tools/report_pictures.py`.

It holds examples/debate.yaml, examples/experiments/turn_taking.yaml and the small story with the offline model, writes
their reports, and takes pictures of them with Chromium and its driver, which must be installed: report.png, study.png,
robustness.png and story_*.png in docs/pictures.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.common.by import By
from web_pictures import PICTURES, ROOT, chromium

import persimchat
from persimchat.experiments import Experiment, run_experiment
from persimchat.reports.report import write_report
from persimchat.runs.folder.reading import read_run

DEBATE = ROOT / "examples" / "debate.yaml"
STORY = ROOT / "personas" / "stories" / "tiny.yaml"
OF_STORY = ("talks", "closeness", "ballots")
"""The parts of the story's report that are taken."""
STUDY = ROOT / "examples" / "experiments" / "turn_taking.yaml"


def main() -> int:
    """Hold the debate, the story and the experiment, and take the pictures.

    Returns:
        The exit code: 1 if there is no Chromium or no driver of it.
    """
    browser, driver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if browser is None or driver is None:
        print("Chromium is needed to take the pictures: apt install chromium chromium-driver", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        result = persimchat.simulate(DEBATE, model="offline", analysis=True, out=folder)
        debate = Path(folder) / "report.html"
        write_report(read_run(Path(str(result.folder))), debate)
        told = persimchat.simulate(STORY, model="offline", seed=1, out=folder)
        story = Path(folder) / "story.html"
        write_report(read_run(Path(str(told.folder))), story)
        study = run_experiment(Experiment.load(STUDY), out=folder).folder / "report.html"
        chrome = chromium(browser, driver, f"{folder}/profile")
        try:
            _take(chrome, debate, "report", 1200, 1150)
            for part in OF_STORY:
                _take(chrome, story, f"story_{part}", 1100, 1050, part=part)
            _take(chrome, study, "study", 1100, 1050)
            _take(chrome, study, "robustness", 1100, 1050, part="robustness")
        finally:
            chrome.quit()
    return 0


def _take(chrome: webdriver.Chrome, page: Path, name: str, width: int, height: int, part: str = "") -> None:
    """Take a picture of a page's head, or of one part of it."""
    chrome.set_window_size(width, height)
    chrome.get(page.as_uri())
    picture = str(PICTURES / f"{name}.png")
    if part:
        chrome.find_element(By.ID, part).screenshot(picture)
    else:
        chrome.save_screenshot(picture)


if __name__ == "__main__":
    sys.exit(main())
