"""The command line `mmau`: one module for each command, which imports the packages it needs when it runs."""
