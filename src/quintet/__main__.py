"""`python -m quintet` is the command line."""

from quintet.cli.main import main

if __name__ == "__main__":
    main()
