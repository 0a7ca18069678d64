"""Lint of a user design: why another tool could read its text as a different circuit than the simulation does."""
