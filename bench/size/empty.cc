// What an executable costs before there is anything in it.
int main(int argc, char** /*argv*/) { return argc - 1; }
