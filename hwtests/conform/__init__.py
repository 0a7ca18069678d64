"""Conformance: the golden model against a device, bit for bit, in campaigns that can be interrupted and resumed."""
