"""The companion: one person talks with one agent who remembers."""
