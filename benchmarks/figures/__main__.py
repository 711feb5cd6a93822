from benchmarks import figures, statistics

for path in figures.write(statistics.rows()):
    print(path.relative_to(figures.FOLDER.parents[2]))
