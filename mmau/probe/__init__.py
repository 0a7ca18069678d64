"""Probing: infer the arithmetic of a device under test from its answers alone (docs/guides/probing.md)."""
