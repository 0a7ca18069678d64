"""Probing: find out what a black box computes, from its answers alone (docs/probing.md)."""
