"""Banks of small formulas, and questions to them: which pair of nodes explains a target best?"""
