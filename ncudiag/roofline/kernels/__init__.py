"""Named kernels on paper: how many operations they do and how many bytes they must move."""
