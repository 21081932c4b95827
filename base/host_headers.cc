// An empty source file, because the target that owns the precompiled header needs one.
