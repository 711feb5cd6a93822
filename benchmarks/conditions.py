"""What the runs have in common unless they say otherwise, and what judges them."""

POINTS = 128  # of a problem
LIMIT = 10.0  # seconds for a fit
LONG = 60.0  # the same for the paper's method, where the epochs decide
FRESH = 2000, 10_007  # points that judge a formula, and the seed that draws them
RANDOM = "random-60"  # the set of release 0.6.0: the next takes another seed, and nobody looks at its formulas before
FURTHER = ("nguyen", "jin", "keijzer", "vladislavleva", "feynman", "strogatz")  # sets besides the paper's
RIVALS = ("eql", "gp", "dsr", "operon", "operon-mdl", "rils-rols", "pysr")
PAPERS = ("paper", "trained-weights", "paper-1000", "no-gradient-1000", "random-pruning-1000")  # the paper's method
