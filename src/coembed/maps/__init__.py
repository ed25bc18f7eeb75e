"""Items on a plane: layouts, and pictures of them. Knows nothing of torch."""
