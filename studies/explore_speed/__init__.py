"""How long a space takes on this machine, beside the bars that the project sets itself."""
