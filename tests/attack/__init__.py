"""The standing attack: broken designs, generators, proofs and evidence, none of which may pass a check (`make attack`)."""
