"""The engine that asks judges about stored answers, joins their panels and holds them against people."""
