"""The four models of the paper, a file each."""
