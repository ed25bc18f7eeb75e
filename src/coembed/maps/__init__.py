"""Items of all types on a plane: layouts, and pictures of them. Knows nothing of torch."""
