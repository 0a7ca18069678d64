"""The campaign: a hundred million vectors of each operation through generated datapaths, in volume mode."""
