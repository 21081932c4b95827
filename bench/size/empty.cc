// An empty executable. Its size is subtracted from the sizes of the other executables.
int main(int argc, char** /*argv*/) { return argc - 1; }
