"""``python -m harness.cli``, the same as ``zaps-harness``."""

from harness.__main__ import main


main()
