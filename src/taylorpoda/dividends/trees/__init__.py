"""Tree ensembles: what each library learned, as one structure, and its dividends in closed form."""
