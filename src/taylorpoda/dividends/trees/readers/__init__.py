"""One reader per library: from a fitted model to an `Ensemble`."""
