"""How well a companion remembers, trusts and answers: scripted persons talk with it."""
