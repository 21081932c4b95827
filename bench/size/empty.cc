// The size of this empty executable is subtracted from other sizes.
int main(int argc, char** /*argv*/) { return argc - 1; }
