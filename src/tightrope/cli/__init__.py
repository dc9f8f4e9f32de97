"""The thin door: `tightrope …` on the command line. Nothing heavy is imported before a command needs it."""
