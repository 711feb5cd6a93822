"""`python -m prunesymnet` is the command line."""

from prunesymnet.cli import main

if __name__ == "__main__":
    main()
