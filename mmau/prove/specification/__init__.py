"""Every step of golden, written once as bit-vector terms: what the datapaths are proved to compute."""
