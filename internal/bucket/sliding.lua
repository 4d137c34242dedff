local sliding = {}
