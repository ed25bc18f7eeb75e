"""Several processes: which one this is, what of the rows it has, and what they exchange.

Everything that knows of more than one process starts here. One process is the case of all rows.
"""

import os

# Tables of many nodes are read at random places: in pages of 2 MB instead of 4 kB that takes as little as
# half the time. torch looks at this when it first takes memory: it stands before all that imports it.
os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")
