"""The documentation site: pages that are not files under docs/, and the commands that build and check the whole."""
