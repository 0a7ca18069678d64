"""Programs that write pages of docs/ or measure this project. The wheel does not hold them."""
