"""Recordings of others, and earlier ones of this project, brought into the project's one format."""
