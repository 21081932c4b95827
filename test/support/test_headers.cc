// What a precompiled header belongs to.
int main() {}
