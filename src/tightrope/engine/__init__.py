"""How is it fast? The compiled kernels and the tables they work on; nothing else in the package is compiled.

Layouts. Policy tables are action-major, [A, H*S], so that the loops that every episode runs go over states of all steps
at once. Value channels are one axis: channel 0 is the loss, channels 1..m the costs.

Modules: `jit` (how kernels are compiled and cached), `exponential`, `axis` and `dense` (the two kinds of features, each with
the same operations), `operations` (chooses between them), `policy` (values to policies), `episode` (Algorithm 1),
`tables` (allocation).
"""
