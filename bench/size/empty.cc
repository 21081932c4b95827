// An empty program. Its size is subtracted from the sizes of the other programs.
int main(int argc, char** /*argv*/) { return argc - 1; }
