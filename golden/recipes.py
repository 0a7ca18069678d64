"""Named orders in which libraries and kernels spend K, with the evidence for each (golden/recipes.toml).

>>> from golden.recipes import recipe
>>> recipe("deepgemm.sm90.e4m3").order.promote_every
4
"""

from golden.products.recipes import EVIDENCE, Recipe, recipe, recipe_of_shape, recipes

__all__ = ["EVIDENCE", "Recipe", "recipe", "recipe_of_shape", "recipes"]
