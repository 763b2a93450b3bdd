"""Two small bundles of questions on clips that other packages carry, for trying out commands."""
