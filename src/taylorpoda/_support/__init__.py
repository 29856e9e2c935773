"""What every room may use: checks and their messages, array namespaces, seeds, memory, optional imports."""
