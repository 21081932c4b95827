// An empty source file for the target that owns the precompiled header.
