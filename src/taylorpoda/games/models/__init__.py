"""Models behind one seam: a bound model takes rows in the user's container and gives float64 (m, outputs)."""
