"""What a fuzzer is run with is no module of tests, and needs what not every Python has."""

collect_ignore = ["coverage_guided.py"]
