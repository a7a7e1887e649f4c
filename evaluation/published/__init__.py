"""Numbers that papers published, to stand beside one's own: one YAML file a paper, one reader."""
