"""The durable log on files, in memory, and everything that reads or repairs it."""
