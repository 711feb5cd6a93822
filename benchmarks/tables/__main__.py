"""python -m benchmarks.tables                    writes benchmarks/results/tables/
python -m benchmarks.tables --check            only says which files there are old
python -m benchmarks.tables --file runs.jsonl votes    prints tables of another file
"""

import argparse
import json
import sys
from pathlib import Path

from benchmarks import compare_commits, record, statistics, tables

COMMITS = tables.FOLDER / "commits.md"

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("names", nargs="*", metavar="table", help="those that are printed (left out: all)")
parser.add_argument("--check", action="store_true")
parser.add_argument("--file", type=Path)
options = parser.parse_args()
if unknown := [name for name in options.names if name not in tables.TABLES]:
    parser.error(f"tables must be of {', '.join(tables.TABLES)}, got {', '.join(unknown)}")
if options.names and not options.file:
    parser.error("table names go with --file: without it, all tables are written")
if options.file:
    lines = record.read(options.file)
    for name in options.names or tables.TABLES:
        print(tables.page(name, lines) or f"{name}: no runs yet\n")
    sys.exit()
compared = compare_commits.table(json.loads((record.RESULTS / "compare.json").read_text()))
if options.check:
    old = tables.stale(statistics.rows())
    if not COMMITS.exists() or COMMITS.read_text() != compared:
        old.append(COMMITS.name)
    sys.exit(f"run make tables: {', '.join(old)} do not show benchmarks/results" if old else 0)
COMMITS.write_text(compared)
for path in [*tables.write(statistics.rows()), COMMITS]:
    print(path.relative_to(tables.FOLDER.parents[2]))
