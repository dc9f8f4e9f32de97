"""How fast is it? Ratios of two things timed in one run, never seconds by themselves; `python -m benchmarks [NAME ...]`."""
