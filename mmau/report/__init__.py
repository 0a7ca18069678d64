"""Markdown and figures of the commands and the studies. HTML is `golden.html`, which traces need too."""
