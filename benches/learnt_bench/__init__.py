"""Times learnt beside its peers: same arrays, same threads, one run."""
