"""What the runs have in common unless they say otherwise, and what judges them."""

POINTS = 128  # of a problem
LIMIT = 10.0  # seconds for a fit
LONG = 60.0  # the same for the paper's method, where the epochs decide
HOUR = 3600.0  # the same for a method that its number of formulas ends
SHORT = 2.0  # the same for the search without each of its stages: there are many, and most fits end within a second
NOISE = 0.01  # of the target's root mean square, where methods are compared on noisy points
MUCH_NOISE = 0.1  # the same where little more than the size of the law can be seen
OUTLIERS = 0.05  # of the rows, where gross outliers are
MORE_NOISE = 0.05  # of each value or of their spread, where curves from textbooks are as noisy as in a laboratory
TEXTBOOK_POINTS, TEXTBOOK_LIMIT = (
    60,
    20.0,
)  # rows and seconds of a curve from a textbook: a table that a person would fit
UNRELATED = 2, 10  # columns that have nothing to do with the target, where there are such
FRESH = 2000, 10_007  # points that judge a formula, and the seed that draws them
STOPPING = 20_011  # and the seed of the run: draws the fresh points that say when the paper's method stops
RANDOM = "random-60"  # the set of release 0.6.0: the next takes another seed, and nobody looks at its formulas before
LAWS = "laws-60"  # random laws of four to eight columns, as the random formulas are
LAWS_LIMIT = 20.0  # seconds for such a law
FURTHER = ("nguyen", "jin", "keijzer", "vladislavleva", "feynman", "strogatz")  # sets besides the paper's
