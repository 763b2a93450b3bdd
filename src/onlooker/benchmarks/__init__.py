"""The benchmarks that come with onlooker, one folder each. They import no engine and not each other."""
