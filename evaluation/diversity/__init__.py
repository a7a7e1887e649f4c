"""How different the conversations of one set-up are: measures of diversity, all of them arithmetic.

Source: Chu, Chen, Nakayama, *Exploring and Controlling Diversity in LLM-Agent Conversation*. A *case* is one set-up, a
*dialogue* one run of it. `ngrams.py` counts words, `vectors.py` compares meanings, `dialogues.py` says what of a run
counts, `cases.py` divides runs into cases and settings, and `measuring.py` puts the figures side by side.
"""
