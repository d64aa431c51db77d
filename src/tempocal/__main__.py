"""``python -m tempocal`` is ``tempocal``."""

from tempocal.cli import main

if __name__ == "__main__":
    main()
