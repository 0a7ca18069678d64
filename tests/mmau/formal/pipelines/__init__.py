"""Tests of mmau.formal.pipelines."""
