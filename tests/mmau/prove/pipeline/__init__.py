"""Tests of mmau.prove.pipeline."""
