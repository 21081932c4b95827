// An empty program. Its size is subtracted from the size of the others.
int main(int argc, char** /*argv*/) { return argc - 1; }
