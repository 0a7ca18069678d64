"""Settings for all tests."""

from hypothesis import settings

# Generated inputs are the same in every run and on every machine; a slow machine fails nothing.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
