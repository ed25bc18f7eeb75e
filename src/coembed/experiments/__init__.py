"""The paper's experiments: a grid of cells, run and kept one by one, and a report made from them alone."""
