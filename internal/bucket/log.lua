local log = {}
