"""Stages for what is exact in every row: sums of the terms of a dictionary (`bank/dictionary.py`), with more terms, a
constant inside of what stands around them, or divided by a sum; and squares of sums. Where there is noise, they find
nothing.
"""
