"""Each page's examples run in a folder of their own, with the example tables and those of the gallery in it."""

import shutil
from pathlib import Path

import pytest

collect_ignore_glob = ["hooks/*", "pictures/*"]  # which are no examples
HERE = Path(__file__).resolve().parent
TABLES = [*sorted((HERE.parent / "examples").glob("*.csv")), *sorted((HERE / "gallery").glob("*.csv"))]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    for table in TABLES:
        shutil.copy(table, tmp_path)
    monkeypatch.chdir(tmp_path)
