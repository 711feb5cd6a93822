import json
import sys

from benchmarks import compare_commits, record, statistics, tables

COMMITS = tables.FOLDER / "commits.md"
compared = compare_commits.table(json.loads((record.RESULTS / "compare.json").read_text()))
if "--check" in sys.argv:
    old = tables.stale(statistics.rows())
    if not COMMITS.exists() or COMMITS.read_text() != compared:
        old.append(COMMITS.name)
    sys.exit(f"run make tables: {', '.join(old)} do not show benchmarks/results" if old else 0)
COMMITS.write_text(compared)
for path in [*tables.write(statistics.rows()), COMMITS]:
    print(path.relative_to(tables.FOLDER.parents[2]))
