"""How is a report made? One self-contained HTML file from a collection of runs."""
