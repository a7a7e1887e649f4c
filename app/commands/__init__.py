"""The commands, a file each: their options, their help and what they do."""
