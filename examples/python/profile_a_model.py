"""Lowers an exported model, shows the delegated operators, runs the program, and profiles it.

    PYTHONPATH=build/release/python /usr/bin/python3 examples/python/profile_a_model.py model.pt2
"""

import sys
import tempfile

import numpy

import vitrine

exported = sys.argv[1] if len(sys.argv) > 1 else "test/samples/linear_relu/model.pt2"

# %% Lower the model, and print the operators that XNNPACK executes.
lowered = vitrine.lower(exported, backend="xnnpack")
print(lowered.delegation_info())

# %% Run the program with random inputs.
with tempfile.TemporaryDirectory() as folder:
    path = folder + "/model.pte"
    lowered.save(path)
    program = vitrine.Program(path)
    generator = numpy.random.default_rng(0)
    inputs = [generator.standard_normal(spec.shape).astype(spec.dtype) for spec in program.inputs()]
    for output in program(*inputs):
        print(output.dtype, output.shape, output.ravel()[:5])

    # %% Profile the program.
    profile = program.profile(*inputs)
print(profile)

# %% Print the five slowest rows. With pandas: profile.to_pandas().nlargest(5, "p50_ns")
for row in sorted(profile.rows, key=lambda row: -row["p50_ns"])[:5]:
    print(f"{row['p50_ns'] / 1000:8.1f} us  {row['op_type']:20} {row['kernel']}")
