"""Tests of formal.pipelines."""
