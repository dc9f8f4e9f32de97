"""How does one see it? Figures from runs; Matplotlib is loaded when the first one is drawn."""
