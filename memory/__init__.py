"""What agents remember: retrieval arithmetic, embeddings, and one Chroma collection an agent."""
