"""From explained rows to solved games: exactly by table, in closed form for trees."""
