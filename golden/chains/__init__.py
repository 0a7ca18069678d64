"""One operation over K products: steps of L products, one after the other, or the sums of a described order."""
