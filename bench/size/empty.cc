// An empty executable, whose size is subtracted.
int main(int argc, char** /*argv*/) { return argc - 1; }
