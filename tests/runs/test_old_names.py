"""Folders of runs that were made when settings had other names."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

from run_files import run_json
from run_folders import write_run

from persimchat.runs.folder.manifest import RUN_FORMAT, STATE_VERSION
from persimchat.runs.folder.reading import read_manifest
from persimchat.runs.run.going_on import changed_settings, manifest_of, settings_of


def test_settings_of_old_folders_have_current_names(tmp_path: Path):
    folder = write_run(tmp_path, format=RUN_FORMAT, state_version=STATE_VERSION, silences=0)
    told = run_json(folder)
    told["settings"] |= {"window_size": 7, "temperature": 2.0, "allow_repetition": True}
    told["resumed"] = [{"at": "2026", "turn": 1, "changed": {"window_size": 7}, "before": {"window_size": 9}}]
    told["branch"] = {"of": "x", "turn": 1, "why": "branch", "changed": {"temperature": 2.0, "say": {"speaker": "A"}}}
    (folder / "run.json").write_text(json.dumps(told), encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nobody wrote these names by hand
        read, manifest = read_manifest(folder), manifest_of(folder)
        settings = settings_of(manifest, {})
    raw = manifest.given
    kept = read.settings.model_dump()
    assert (kept["judge_window"], kept["selection_temperature"], kept["allow_repeated_speaker"]) == (7, 2.0, True)
    assert not {"window_size", "temperature", "allow_repetition"} & {*kept, *raw["settings"]}
    assert read.resumed[0].changed == {"judge_window": 7}
    assert raw["resumed"][0]["before"] == {"judge_window": 9}
    assert raw["branch"]["changed"] == {"selection_temperature": 2.0, "say": {"speaker": "A"}}
    assert (settings.judge_window, settings.allow_repeated_speaker) == (7, True)
    assert not changed_settings(manifest, settings).keys() & {"judge_window", "selection_temperature"}
