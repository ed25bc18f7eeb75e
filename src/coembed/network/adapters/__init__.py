"""From other libraries' objects to a network: frames, graphs, arrays. Each library is the caller's own.

What an object is, is told by the names of its classes, so that nothing is imported that is not in use
already.
"""
