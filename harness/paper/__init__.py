"""The paper's experiments: what it published, what is run here, and which of its claims hold."""
