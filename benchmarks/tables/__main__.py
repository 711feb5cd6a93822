from benchmarks import statistics, tables

for path in tables.write(statistics.rows()):
    print(path.relative_to(tables.FOLDER.parents[2]))
