"""``python -m coembed`` is the command line."""

from coembed.cli import main

if __name__ == "__main__":
    main()
