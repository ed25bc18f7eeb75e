"""The report of the experiments, made from their records alone; nothing is fitted here."""
