import sys

from benchmarks import statistics, tables

if "--check" in sys.argv:
    old = tables.stale(statistics.rows())
    sys.exit(f"run make tables: {', '.join(old)} do not show benchmarks/results/runs.jsonl" if old else 0)
for path in tables.write(statistics.rows()):
    print(path.relative_to(tables.FOLDER.parents[2]))
