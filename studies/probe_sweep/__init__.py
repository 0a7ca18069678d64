"""The probe tried on the catalogue and on random units, docs/evidence/probing-sweep.md."""
