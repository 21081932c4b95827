// This file is empty: the target that owns the precompiled header needs a source file.
