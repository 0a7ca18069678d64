"""What has a dot product: a unit that a user describes, and an instruction of the catalogue."""
