"""Every rule and constant of golden's reference changed one at a time, and who notices: `make golden-mutants`."""
