"""`python -m quintet` is the command line."""

from quintet.interfaces.cli import main

if __name__ == "__main__":
    main()
