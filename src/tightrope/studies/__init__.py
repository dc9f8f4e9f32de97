"""What happens on real work? Whole studies, each from its inputs to the sentence that a reader wants."""
