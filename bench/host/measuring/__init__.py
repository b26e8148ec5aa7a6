"""Plans and measures the rounds of a run until its verdicts are settled."""
