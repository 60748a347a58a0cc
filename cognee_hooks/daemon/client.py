"""What agents run for every event, as ``python -I -S client.py AGENT EVENT [EMPTY]``.

Python compiles a program that it is told to run each time, but a module that it imports only once.
So this file is short, and the work is next door.
"""

import sys

if __name__ == "__main__":
    sys.path.insert(0, __file__.rpartition("/")[0])
    thin_client = __import__("thin_client")
    del sys.path[0]
    thin_client.main()
