"""From predictions to numbers: scores, comparisons, votes, agreement. Knows no family by name."""
