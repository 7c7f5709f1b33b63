"""A believable training run without a GPU, through the real client."""
