"""Published designs beside ours: all through one flow of synthesis and timing, each held to a unit."""
