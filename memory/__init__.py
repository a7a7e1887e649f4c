"""The memories of agents: retrieval arithmetic, embeddings, and one Chroma collection per agent."""
