"""Other people's evaluation harnesses: our protocols as their tasks, their outputs as our predictions."""
