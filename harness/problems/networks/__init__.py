"""Networks of the architecture benchmarks as torch modules, from their cell descriptions."""
