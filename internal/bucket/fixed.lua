local fixed = {}
