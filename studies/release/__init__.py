"""The files of a release: source archive, wheels, bill of materials, recordings. `python -m studies.release dist`."""
